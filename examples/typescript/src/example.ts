/** What both drivers do: store, recall and list, in a namespace of the example's own. */
import { Memories, type Run } from "./pgrecall.js";

export async function example(run: Run): Promise<void> {
  const memories = new Memories(run, "typescript");
  const id = await memories.remember({
    content: "Priya takes the night train to Kerala",
    tags: ["Priya", "travel"],
    metadata: { user: "priya", year: 2026 },
    external_id: "kerala",
    on_conflict: "update",
  });
  for (const found of await memories.recall("how does Priya travel?", { k: 3, tags_any: ["travel"] })) {
    console.log(found.id === id, found.content, found.score > 0, found.metadata);
  }
  const page = await memories.list({ metadata_where: { year: { $gte: 2026 } }, max_results: 10 });
  console.log(page.length, page[0]?.created_at instanceof Date);
}
