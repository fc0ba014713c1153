import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { storeUnavailable } from './ask-redis.ts';
import { gatherWrites } from './gather-writes.ts';

/** What many scripts begin with, see there. */
export const scriptStart = new URL('lua/script-start.lua', import.meta.url);

/** What a script is run with. */
export interface ScriptInput {
  /** Its KEYS. */
  keys?: readonly string[];
  /** Its named arguments, sent as one JSON object: the script reads them with `cjson.decode(ARGV[1])`. An undefined one is absent. */
  args: Readonly<Record<string, unknown>>;
  /** Texts that are sent as they are, as ARGV[2] and so on. */
  texts?: readonly string[];
}

/**
 * A Lua script that Redis runs as one atomic operation. Its text is sent once, and then only its digest. Runs on one connection
 * are done in order, unless Redis was restarted and has to be sent a text again.
 */
export class RedisScript {
  readonly #text: string;
  readonly #digest: string;
  #isSent = false;

  /** @param files the script; of several, each goes on where the one before ends */
  constructor(...files: readonly URL[]) {
    this.#text = files.map((file) => readFileSync(file, 'utf8')).join('\n');
    this.#digest = createHash('sha1').update(this.#text).digest('hex');
  }

  /** Runs the script and returns its reply. @throws RouterError `store_unavailable`; the script may have been run all the same */
  async run(redis: Redis, { keys = [], args, texts = [] }: ScriptInput): Promise<unknown> {
    const sent = [...keys, wellFormed(JSON.stringify(args)), ...texts];
    gatherWrites(redis);
    try {
      if (this.#isSent) return await redis.evalsha(this.#digest, keys.length, ...sent);
    } catch (error) {
      if (!isUnknownScript(error)) throw storeUnavailable(error);
    }
    this.#isSent = true;
    try {
      return await redis.eval(this.#text, keys.length, ...sent);
    } catch (error) {
      throw storeUnavailable(error);
    }
  }
}

/**
 * JSON without halves of surrogate pairs, which `cjson` refuses to read: a script that writes what many have sent would fail for all of them,
 * as often as it is tried again.
 */
function wellFormed(json: string): string {
  if (!json.includes('\\ud')) return json;
  return json.replace(/\\(?:ud[89a-f][\da-f]{2}|.)/g, (escape) => (escape.length === 6 ? '\ufffd' : escape));
}

/** Redis has not been sent the script since it was started, and has done nothing. */
function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
