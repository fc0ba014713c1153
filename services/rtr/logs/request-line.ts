import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { toPrintable } from '../commands/table-lines.ts';
import type { LogEntry } from './log-entry.ts';

/** What the ingress logs of a request that is over. */
interface RequestEntry extends LogEntry {
  outcome?: string;
  code?: string;
  method?: string;
  path?: string;
  model?: string;
  tier?: string;
  worker?: string;
  ms?: number;
  usage?: { promptTokens: number; completionTokens: number };
}

const outcomes: Readonly<Record<string, { text: string; color: 'green' | 'yellow' | 'red' }>> = {
  'request served': { text: 'done', color: 'green' },
  'client went away': { text: 'client went away', color: 'yellow' },
  'request failed': { text: 'failed', color: 'red' },
  'request refused': { text: 'refused', color: 'yellow' },
  'request failed unexpectedly': { text: 'failed', color: 'red' },
};

/** Whether a log entry reports the end of a request. */
export function isRequest(entry: LogEntry): entry is RequestEntry {
  return Object.hasOwn(outcomes, entry.msg);
}

/**
 * Formats the end of a request: model, worker, tokens in and out, duration, outcome. Example:
 * `qwen3-8b            gpu.joes-box      1204 in   310 out  2412 ms  done`
 * @param output decides whether the line has colours
 */
export function formatRequest(entry: RequestEntry, output: Writable): string {
  const { msg, model, path, method, worker, tier, usage, ms, code } = entry;
  const { text = msg, color = 'red' as const } = outcomes[msg] ?? {};
  const reason = code === undefined ? text : `${text}: ${code}`;
  const outcome = styleText(color, toPrintable(reason), { stream: output as NodeJS.WritableStream });
  if (path !== undefined) return `${fit(`${method ?? ''} ${path}`, 64)}  ${outcome}`;
  const tokens = usage
    ? `${String(usage.promptTokens).padStart(6)} in${String(usage.completionTokens).padStart(6)} out`
    : ''.padEnd(19);
  return `${fit(model ?? '-', 18)}  ${fit(worker ?? tier ?? '-', 16)}${tokens}${formatMs(ms).padStart(9)}  ${outcome}`;
}

/** Fills a cell to its width; a longer text keeps its beginning and its end. */
function fit(text: string, width: number): string {
  const printable = toPrintable(text);
  if (printable.length <= width) return printable.padEnd(width);
  const head = Math.ceil((width - 1) / 2);
  return `${printable.slice(0, head)}…${printable.slice(head - width + 1)}`;
}

function formatMs(ms: number | undefined): string {
  if (ms === undefined) return '';
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
