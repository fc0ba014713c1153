import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { toPrintable } from '../commands/table-lines.ts';
import { levels, type LogEntry } from './log-entry.ts';
import { OpenProblems } from './open-problems.ts';
import { formatRequest, isRequest } from './request-line.ts';

const maxSentenceLength = 400;

/**
 * Writes what a person at the terminal of `rtr up` needs to know: one line for each request, and one sentence for each problem. A problem
 * that is repeated, also by another part, is said once, and again after its end was said.
 */
export class TerminalLog {
  readonly #output: Writable;
  readonly #problems: OpenProblems;

  constructor(output: Writable, problems = new OpenProblems()) {
    this.#output = output;
    this.#problems = problems;
  }

  /** Writes an entry of a part's log, unless it is a detail. */
  write(part: string, entry: LogEntry): void {
    if (isRequest(entry)) {
      this.#print(entry.time, formatRequest(entry, this.#output));
      return;
    }
    const waiting = describeWaiting(entry);
    if (waiting !== undefined) this.#print(entry.time, waiting);
    const news = this.#problems.note(entry);
    if (news === 'over') this.#say(entry.time, 'green', `${part}: ${entry.msg}`);
    else if (news) this.#say(entry.time, toColor(entry.level), `${part}: ${news.problem}`);
  }

  /** Writes a sentence of `rtr up` itself. */
  say({ time, level, msg }: LogEntry): void {
    if (level >= levels.warn) this.#say(time, toColor(level), msg);
    else this.#print(time, clip(msg));
  }

  #say(time: number, color: 'green' | 'yellow' | 'red', sentence: string): void {
    this.#print(time, styleText(color, clip(sentence), { stream: this.#output as NodeJS.WritableStream }));
  }

  #print(time: number, text: string): void {
    const shownTime = styleText('gray', formatTime(time), { stream: this.#output as NodeJS.WritableStream });
    this.#output.write(`${shownTime}  ${text}\n`);
  }
}

/** Returns what the ingress waits for while it stops; undefined if it waits for nothing, or if the entry is about something else. */
function describeWaiting(entry: LogEntry & { active?: number; drainMs?: number }): string | undefined {
  const { msg, active = 0, drainMs = 0 } = entry;
  if (msg !== 'finishing running answers' || active === 0) return undefined;
  const [answers, them] = active === 1 ? ['1 answer is', 'it'] : [`${active} answers are`, 'them'];
  return `${answers} still running, up to ${Math.ceil(drainMs / 1_000)} s. Ctrl-C again ends ${them}.`;
}

function toColor(level: number): 'red' | 'yellow' {
  return level >= levels.error ? 'red' : 'yellow';
}

function clip(text: string): string {
  const line = toPrintable(text.replaceAll(/\s+/g, ' '));
  return line.length > maxSentenceLength ? `${line.slice(0, maxSentenceLength - 1)}…` : line;
}

/** Returns the local time of day, such as `16:05:09`. */
function formatTime(time: number): string {
  return new Date(time).toTimeString().slice(0, 8);
}
