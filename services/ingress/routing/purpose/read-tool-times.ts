import type { ToolTimes } from '#shared/core/agent-turn.ts';

/** Largest number of tools of one header that are read. */
const maxTools = 32;

/** Largest length of a header in characters. A longer header is ignored. */
const maxLength = 8_192;

/** Largest number of tools whose names are kept, so that the record of a request stays small. */
const maxNamed = 8;

/** Largest time of a tool: a day. A longer time counts as a day. */
const maxMs = 86_400_000;

const namePattern = /^[\w .:/@-]{1,64}$/;

/** Tools that start agents. The time of these tools is left out, because it is the time of the agent's own turns. */
const agentTools: ReadonlySet<string> = new Set(['Agent', 'Task', 'Workflow']);

/**
 * Reads the times of tools in milliseconds from a header such as `Bash=742;Read=9`. The names are percent-encoded. Malformed entries are
 * left out. Returns undefined if no entry remains.
 */
export function readToolTimes(header: unknown): ToolTimes | undefined {
  if (typeof header !== 'string' || header.length > maxLength) return undefined;
  const times: ToolTimes['longest'] = [];
  for (const part of header.split(';', maxTools)) {
    const equals = part.lastIndexOf('=');
    const name = decodeName(part.slice(0, Math.max(0, equals)).trim());
    const digits = part.slice(equals + 1).trim();
    if (name === undefined || !namePattern.test(name) || !/^\d{1,9}$/.test(digits) || agentTools.has(name)) continue;
    times.push({ name, ms: Math.min(Number(digits), maxMs) });
  }
  if (times.length === 0) return undefined;
  const ms = times.reduce((sum, each) => sum + each.ms, 0);
  return { ms, longest: times.sort((a, b) => b.ms - a.ms).slice(0, maxNamed) };
}

function decodeName(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    // The encoding of the name is malformed, so the entry is left out.
    return undefined;
  }
}
