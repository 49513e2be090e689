import pg from 'pg';

/** A statement that is prepared on each connection that runs it. */
export interface PreparedStatement {
  /** unique among the texts of a connection */
  name: string;
  text: string;
  /** null and undefined are NULL */
  values?: unknown[];
}

/**
 * Sends statements in one message and waits for one answer: what they return is not read. pg ends each statement with a
 * Sync, after which the server flushes its answer, and asks for a description of each result; here one Sync ends all of
 * them. The first error skips the statements behind it.
 *
 * They are not a transaction by themselves: BEGIN and COMMIT are statements like others. PostgreSQL would run them as
 * one, but Citus would commit a row of a single shard before the statements behind it.
 *
 * @param connection in pipeline mode; if this throws, it must be closed, because a transaction may be open and
 *   statements may lack that it counts as prepared
 */
export function sendTogether(
  connection: pg.ClientBase,
  statements: readonly PreparedStatement[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.query(new Together(statements, error => (error ? reject(error) : resolve())));
  });
}

/** pg's internal state of a connection, and the statements that are prepared on it. */
interface Inside {
  parsedStatements: Record<string, string>;
  stream: { writable: boolean; write(bytes: Buffer): void };
}

/** Statements that pg sends and awaits as one. It takes a query of another class for one that keeps a portal open. */
class Together extends pg.Query {
  /** by which the log and traces name all of them: those of the first that has values */
  readonly name: string;
  readonly text: string;
  /** replaced by the one that traces it */
  readonly callback: (error: Error | null) => void;
  readonly statements: readonly PreparedStatement[];

  constructor(statements: readonly PreparedStatement[], callback: (error: Error | null) => void) {
    const { name, text } = (statements.find(({ values }) => values) ?? statements[0]) as PreparedStatement;
    super({ name, text });
    this.name = name;
    this.text = text;
    this.callback = callback;
    this.statements = statements;
  }

  override submit = (connection: unknown): void => {
    const { parsedStatements, stream } = connection as Inside;
    // If it is not writable any more, everything in flight is about to fail.
    if (stream.writable) stream.write(encode(this.statements, parsedStatements));
  };

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleCommandComplete(): void {}
  handleError(error: Error): void {
    this.callback(error);
  }
  handleReadyForQuery(): void {
    this.callback(null);
  }
}

/** Bytes of the buffer in which messages are assembled; it grows for larger ones, and is then given up. */
const SCRATCH_BYTES = 256 * 1024;
/** Characters from which on the bytes of a text are counted instead of estimated. */
const LONG_TEXT = 16 * 1024;
/** Codes of messages: PostgreSQL's "Frontend/Backend Protocol", Message Formats. */
const [PARSE, BIND, EXECUTE, SYNC] = [0x50, 0x42, 0x45, 0x53];

let scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
let length = 0;

/** The messages of statements; those that a connection has not prepared yet are prepared by them. */
function encode(statements: readonly PreparedStatement[], parsed: Record<string, string>): Buffer {
  length = 0;
  for (const { name, text, values = [] } of statements) {
    if (parsed[name] === undefined) {
      putMessage(PARSE, () => {
        putWord(name);
        putWord(text);
        putInt16(0);
      });
      parsed[name] = text;
    } else if (parsed[name] !== text) {
      throw new Error(`two statements are called ${name}`);
    }
    putMessage(BIND, () => {
      putWord('');
      putWord(name);
      putFormats(values);
      putInt16(values.length);
      for (const value of values) putValue(value);
      // Results, which there are none of, as text.
      putInt16(0);
    });
    putMessage(EXECUTE, () => {
      putWord('');
      putInt32(0);
    });
  }
  putMessage(SYNC, () => {});
  const bytes = Buffer.from(scratch.subarray(0, length));
  if (scratch.length > SCRATCH_BYTES) scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  return bytes;
}

function putMessage(code: number, content: () => void): void {
  reserve(5);
  scratch[length] = code;
  const start = length + 1;
  length += 5;
  content();
  scratch.writeInt32BE(length - start, start);
}

/** A text that ends with a zero byte. */
function putWord(text: string): void {
  reserve(3 * text.length + 1);
  length += scratch.write(text, length);
  scratch[length++] = 0;
}

/** Which values are text (0) and which are binary (1); without any, all are text. */
function putFormats(values: readonly unknown[]): void {
  if (!values.some(value => typeof value === 'object' && Buffer.isBuffer(value))) {
    putInt16(0);
    return;
  }
  putInt16(values.length);
  for (const value of values) putInt16(Buffer.isBuffer(value) ? 1 : 0);
}

function putValue(value: unknown): void {
  const text = textOf(value);
  if (text === null) {
    putInt32(-1);
  } else if (typeof text === 'string') {
    reserve(4 + (text.length < LONG_TEXT ? 3 * text.length : Buffer.byteLength(text)));
    const bytes = scratch.write(text, length + 4);
    putInt32(bytes);
    length += bytes;
  } else {
    putInt32(text.length);
    reserve(text.length);
    length += text.copy(scratch, length);
  }
}

/** How pg prepares the values of queries; its types lack this. */
const { prepareValue } = (
  pg as unknown as { utils: { prepareValue(value: unknown): string | Buffer | null } }
).utils;

/** A value as PostgreSQL reads it; a Buffer is in its binary format. */
function textOf(value: unknown): string | Buffer | null {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? null : prepareValue(value);
}

function putInt16(value: number): void {
  reserve(2);
  length = scratch.writeInt16BE(value, length);
}

function putInt32(value: number): void {
  reserve(4);
  length = scratch.writeInt32BE(value, length);
}

function reserve(more: number): void {
  if (length + more <= scratch.length) return;
  const larger = Buffer.allocUnsafeSlow(Math.max(2 * scratch.length, length + more));
  scratch.copy(larger, 0, 0, length);
  scratch = larger;
}
