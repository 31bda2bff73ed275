/** Memories over any driver that runs a statement with $1, $2, … and returns its rows. */

/** The id of a memory. It has 64 bits, which a number would round from 2^53 on; both drivers return a string. */
export type Id = string;

export interface Recalled {
  id: Id;
  content: string;
  title: string | null;
  score: number;
  /** That it answers the question, 0 to 1; null with the fusion rrf. */
  confidence: number | null;
  tags: string[];
  metadata: Record<string, unknown>;
  session: string | null;
  occurred_at: Date | null;
}

export interface Stored {
  id: Id;
  external_id: string | null;
  content: string;
  tags: string[];
  metadata: Record<string, unknown>;
  created_at: Date;
}

/** Arguments by the names that the SQL functions have; what is undefined is left out. */
export interface NewMemory {
  content: string;
  title?: string;
  tags?: string[];
  metadata?: Record<string, unknown>;
  session?: string;
  speaker?: string;
  occurred_at?: Date;
  expires_at?: Date;
  external_id?: string;
  on_conflict?: "error" | "keep" | "update";
}

export interface Filters {
  tags_any?: string[];
  sessions?: string[];
  speakers?: string[];
  /** Such as { user: "priya", year: { $gte: 2024 } }. */
  metadata_where?: Record<string, unknown>;
  since?: Date;
  until?: Date;
  include_sensitive?: boolean;
}

export interface RecallOptions extends Filters {
  k?: number;
  /** The embedding of the question, if the caller has it. Otherwise an embedder is asked for it. */
  vector?: number[];
  /** Seconds to wait for an embedder; then words and concepts find what they find. */
  embedSeconds?: number;
}

export interface ListOptions extends Filters {
  max_results?: number;
  /** The last id of the page before. */
  after_id?: Id;
}

export type Run = <Row>(statement: string, values: unknown[]) => Promise<Row[]>;

const RECALLED = "id, content, title, score, confidence, tags, metadata, session, occurred_at";
const STORED = "id, external_id, content, tags, metadata, created_at";
/** Arguments of type jsonb. They are sent as text, because one of the drivers would encode them once more. */
const JSONB = new Set(["metadata", "metadata_where", "settings"]);

export class Memories {
  constructor(
    private readonly run: Run,
    private readonly namespace: string,
  ) {}

  /** Store a memory and return its id. The namespace is created at the first one. */
  async remember(memory: NewMemory): Promise<Id> {
    const [row] = await this.call<{ id: Id }>("remember", "remember AS id", {
      ...memory,
      namespace: this.namespace,
      create_namespace: true,
    });
    return row!.id;
  }

  /** Return the memories most relevant to a question, best first. */
  async recall(question: string, options: RecallOptions = {}): Promise<Recalled[]> {
    const { vector, embedSeconds = 0.3, ...rest } = options;
    const embedding = vector
      ? { query_vec: `[${vector.join(",")}]` }
      : await this.embedding(question, embedSeconds);
    return this.call<Recalled>("recall", RECALLED, {
      query: question,
      ...embedding,
      ...rest,
      namespace: this.namespace,
    });
  }

  /** Return a page of memories, newest first. */
  async list(options: ListOptions = {}): Promise<Stored[]> {
    return this.call<Stored>("list_memories", STORED, { ...options, namespace: this.namespace });
  }

  /** Ask an embedder, through the database, for the embedding of a question. */
  private async embedding(question: string, seconds: number): Promise<Record<string, unknown>> {
    interface Answer {
      id: Id;
      embedding: string | null;
      model: string;
      error: string | null;
    }
    const [asked] = await this.run<Answer>("SELECT * FROM pgrecall.request_query_embedding($1)", [question]);
    let found = asked!.embedding;
    if (found === null && asked!.error === null) {
      const [answer] = await this.run<Answer>("SELECT * FROM pgrecall.wait_query_embedding($1, $2)", [
        asked!.id,
        seconds,
      ]);
      found = answer?.embedding ?? null;
    }
    return found === null ? {} : { query_vec: found, settings: { query_model: asked!.model } };
  }

  /** Call a function with named arguments; values are parameters. */
  private call<Row>(name: string, columns: string, given: object): Promise<Row[]> {
    const pairs = Object.entries(given).filter(([, value]) => value !== undefined);
    const named = pairs.map(([argument], place) => {
      // Options may come from somewhere else than typed code, and a name becomes part of the statement.
      if (!/^[a-z_]+$/.test(argument)) throw new TypeError(`${argument} is no argument of ${name}`);
      return `${argument} => $${place + 1}${JSONB.has(argument) ? "::text::jsonb" : ""}`;
    });
    const values = pairs.map(([argument, value]) => (JSONB.has(argument) ? JSON.stringify(value) : value));
    return this.run<Row>(`SELECT ${columns} FROM ${name}(${named.join(", ")})`, values);
  }
}
