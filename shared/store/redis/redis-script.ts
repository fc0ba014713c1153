import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { createStoreUnavailableError } from './call-redis.ts';

export const scriptStart = new URL('lua/script-start.lua', import.meta.url);
export const eachAfterScript = new URL('lua/each-after.lua', import.meta.url);
export const pagesScript = new URL('lua/pages.lua', import.meta.url);

export interface ScriptInput {
  keys?: readonly string[];
  /**
   * The named arguments, sent as one JSON object without the undefined ones. The script reads the object with `cjson.decode(ARGV[1])`.
   */
  args: Readonly<Record<string, unknown>>;
  /** Texts that are sent unchanged, as ARGV[2] and so on. */
  texts?: readonly string[];
}

/**
 * A Lua script that Redis runs as one atomic operation. Its text is sent once, and later only its digest. Redis executes the runs of one
 * connection in order, unless it was restarted and needs the text again.
 */
export class RedisScript {
  readonly #text: string;
  readonly #digest: string;
  #isSent = false;

  /** @param files the files that form the script, in this order */
  constructor(...files: readonly URL[]) {
    this.#text = files.map((file) => readFileSync(file, 'utf8')).join('\n');
    this.#digest = createHash('sha1').update(this.#text).digest('hex');
  }

  /**
   * Runs the script and returns its reply.
   * @throws RouterError `store_unavailable`; Redis may have run the script all the same
   */
  async run(redis: Redis, { keys = [], args, texts = [] }: ScriptInput): Promise<unknown> {
    const argv = [...keys, replaceLoneSurrogates(JSON.stringify(args)), ...texts];
    gatherWrites(redis);
    try {
      if (this.#isSent) return await redis.evalsha(this.#digest, keys.length, ...argv);
    } catch (error) {
      if (!isUnknownScript(error)) throw createStoreUnavailableError(error);
    }
    this.#isSent = true;
    try {
      return await redis.eval(this.#text, keys.length, ...argv);
    } catch (error) {
      throw createStoreUnavailableError(error);
    }
  }
}

/**
 * Replaces lone surrogates in JSON, because `cjson` refuses to read them. A script that writes the input of many clients would otherwise
 * fail for all of them, at every try.
 */
function replaceLoneSurrogates(json: string): string {
  if (!json.includes('\\ud')) return json;
  return json.replace(/\\(?:ud[89a-f][\da-f]{2}|.)/g, (escape) => (escape.length === 6 ? '\ufffd' : escape));
}

/** Returns whether Redis lacks the script, because it was restarted. In this case Redis has executed nothing. */
function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

/** The streams that hold back commands until the end of this turn of the event loop. */
const corkedStreams = new WeakSet<object>();

/** Holds back the commands of this turn of the event loop, and then writes them to the socket together, in their order. */
export function gatherWrites(redis: Redis): void {
  // Contrary to the library's types, there is no stream before the first try to connect.
  const stream: Redis['stream'] | undefined = redis.stream;
  if (stream === undefined || corkedStreams.has(stream)) return;
  corkedStreams.add(stream);
  stream.cork();
  setImmediate(() => {
    corkedStreams.delete(stream);
    stream.uncork();
  });
}
