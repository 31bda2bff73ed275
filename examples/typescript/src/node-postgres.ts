import pg from "pg";
import { example } from "./example.js";
import type { Run } from "./pgrecall.js";

// Host, database and user come from PGHOST, PGDATABASE and PGUSER.
const pool = new pg.Pool();
const run: Run = async <Row>(statement: string, values: unknown[]) =>
  (await pool.query(statement, values)).rows as Row[];

await example(run);
await pool.end();
