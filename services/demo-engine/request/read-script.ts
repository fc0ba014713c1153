import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json } from '#shared/core/json.ts';

/** One answer of a script: a tool call with exactly these arguments (a JSON object), or exactly this text. */
export type ScriptStep = { kind: 'call'; name: string; arguments: string } | { kind: 'say'; text: string };

const scriptLine = /^[ \t]*\[demo[ \t]+(call|say)[ \t]+(.*)\][ \t]*$/gm;

/**
 * Reads the script in a user text. Each step is a line: `[demo call read_file {"path": "note.txt"}]` or `[demo say "Done.\n"]`. The first
 * answer to that text uses the first step. The answer to each round of tool results uses the next step. After the last step, the engine
 * answers as without a script.
 * @returns the steps, and the text without their lines
 * @throws RouterError `invalid_request` if a line is invalid, because a typing error must not make a test pass
 */
export function readScript(text: string): { steps: ScriptStep[]; rest: string } {
  const steps = Array.from(text.matchAll(scriptLine), ([line, kind, words = '']) =>
    kind === 'call' ? readCall(line, words) : readText(line, words),
  );
  return { steps, rest: steps.length === 0 ? text : text.replaceAll(scriptLine, '').trim() };
}

function readCall(line: string, words: string): ScriptStep {
  const [, name, json] = /^(\S+)[ \t]+(\{.*\})$/.exec(words) ?? [];
  if (name === undefined || json === undefined || !isJsonObject(parse(json))) {
    throw createScriptError(line, 'a call has the name of a tool and its arguments, a JSON object');
  }
  return { kind: 'call', name, arguments: json };
}

function readText(line: string, words: string): ScriptStep {
  const text = parse(words);
  if (typeof text !== 'string') throw createScriptError(line, 'a text is a JSON string');
  return { kind: 'say', text };
}

function parse(json: string): Json | undefined {
  try {
    return JSON.parse(json) as Json;
  } catch {
    return undefined;
  }
}

function createScriptError(line: string, rule: string): RouterError {
  return new RouterError('invalid_request', `The script line ${line.trim()} is not understood: ${rule}.`, {
    param: 'messages',
  });
}
