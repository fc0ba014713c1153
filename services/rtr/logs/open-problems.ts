import { LRUCache } from 'lru-cache';
import { levels, type LogEntry, type LoggedError } from './log-entry.ts';

/** Milliseconds after its last repetition from which a problem counts as a new one. */
const quietMs = 10 * 60_000;
const maxProblems = 500;

/** Messages that say that a problem is over, and the message of that problem. */
export const recoveries: ReadonlyMap<string, string> = new Map([
  ['redis is back', 'redis is away'],
  ['redis takes writes again', 'redis refuses writes'],
  ['broker connection is back', 'broker connection lost'],
  ['engine found', 'waiting for the engine: it does not answer yet'],
  ['the engine is healthy again', 'the engine is ill: the worker takes no jobs'],
  ['the models can be read again', 'the models cannot be read'],
  ['the upstream answers again: the worker takes jobs', 'the upstream fails: the worker takes no jobs for now'],
  ['connected to an MCP server', 'an MCP server is out of reach'],
  ['a tool works again: it takes calls', 'the server of a tool fails: it takes no calls for now'],
  ['the stored registry can be read again', 'the stored registry cannot be read'],
  ['the registry was reloaded', 'the registry is invalid: the previous one stays in use'],
  ['the keys of the token issuer can be read again', 'the keys of the token issuer cannot be read'],
]);

/** The problems that parts have logged lately, so that each is said once, and again after it was over. */
export class OpenProblems {
  /** Message of each problem, by its sentence. */
  readonly #messages: LRUCache<string, string>;

  /** @param now the current time in milliseconds, of any clock */
  constructor(now: () => number = () => performance.now()) {
    this.#messages = new LRUCache({
      max: maxProblems,
      ttl: quietMs,
      ttlResolution: 0,
      updateAgeOnGet: true,
      perf: { now },
    });
  }

  /**
   * Notes an entry of a log.
   * @returns the sentence of a problem that was not open; `over` if the entry ends an open problem; undefined for all other entries
   */
  note(entry: LogEntry): { problem: string } | 'over' | undefined {
    if (entry.level >= levels.warn) return this.#noteProblem(entry);
    const message = recoveries.get(entry.msg);
    if (message === undefined) return undefined;
    const ended = [...this.#messages].filter(([, other]) => other === message);
    for (const [sentence] of ended) this.#messages.delete(sentence);
    return ended.length > 0 ? 'over' : undefined;
  }

  #noteProblem(entry: LogEntry): { problem: string } | undefined {
    const problem = describeProblem(entry);
    if (this.#messages.get(problem) !== undefined) return undefined;
    this.#messages.set(problem, entry.msg);
    return { problem };
  }
}

/** Returns the message of an entry with its reason, such as `redis is away (the connection was lost)`. */
export function describeProblem({ msg, reason, err }: LogEntry): string {
  const cause = reason ?? findReason(err);
  return cause === undefined ? msg : `${msg} (${cause})`;
}

/** Returns the message or code of the innermost cause. */
function findReason(error: LoggedError | undefined): string | undefined {
  if (error === undefined) return undefined;
  return findReason(error.cause) ?? (error.message || error.code);
}
