import postgres from "postgres";
import { example } from "./example.js";
import type { Run } from "./pgrecall.js";

// Host, database and user come from PGHOST, PGDATABASE and PGUSER.
const sql = postgres();
const run: Run = async <Row>(statement: string, values: unknown[]) =>
  (await sql.unsafe(statement, values as never[])) as unknown as Row[];

await example(run);
await sql.end();
