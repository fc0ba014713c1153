import { readText, type ChatMessage } from './chat-request.ts';
import { findDemoWords, removeDemoLine } from './demo-options.ts';
import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, parseIfJson } from '#shared/core/json.ts';

/** The part of a chat that the engine answers: the last user text, and the tool results after it. */
export interface Turn {
  /**
   * The text without the blocks that agents insert, and without the demo and script lines. Empty if no user message has text. A long text
   * is reduced to its beginning and its end, where the instructions usually are.
   */
  userText: string;
  /** The words of the text's `[demo …]` line; undefined if there is no such line. */
  demoWords: string | undefined;
  /** The current step of the text's script; undefined if there is none. */
  scriptStep: ScriptStep | undefined;
  toolResults: { name: string; text: string }[];
}

const maxPartCharacters = 10_000;

/**
 * Finds the current turn. Agents insert `<system-reminder>` blocks into user texts, send user messages that contain only such blocks, and
 * end requests with a message of the role `system`. None of these begins a turn.
 * @throws RouterError `invalid_request` when a line of the text's script is invalid
 */
export function readTurn(messages: readonly ChatMessage[]): Turn {
  const userTexts = messages.map((message) => (message.role === 'user' ? removeReminders(readText(message)) : ''));
  const start = userTexts.findLastIndex((text) => text !== '');
  const text = userTexts[start] ?? '';
  const names = new Map(
    messages.flatMap((message) => (message.tool_calls ?? []).map((call) => [call.id, call.function.name] as const)),
  );
  const { steps, rest } = readScript(text);
  const toolRounds = messages.slice(start + 1).filter(({ tool_calls: calls }) => calls && calls.length > 0).length;
  return {
    userText: shorten(removeDemoLine(rest)),
    demoWords: findDemoWords(rest),
    scriptStep: steps[toolRounds],
    toolResults: messages
      .slice(start + 1)
      .filter(({ role }) => role === 'tool')
      .map((message) => ({
        name: names.get(message.tool_call_id ?? '') ?? message.name ?? 'tool',
        text: removeReminders(readText(message)),
      })),
  };
}

function removeReminders(text: string): string {
  return text.replaceAll(/<system-reminder>[\s\S]*?(?:<\/system-reminder>|$)/g, '').trim();
}

function shorten(text: string): string {
  return text.length <= 2 * maxPartCharacters
    ? text
    : `${text.slice(0, maxPartCharacters)}\n${text.slice(-maxPartCharacters)}`;
}

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
    kind === 'call' ? readCall(line, words) : readSpokenText(line, words),
  );
  return { steps, rest: steps.length === 0 ? text : text.replaceAll(scriptLine, '').trim() };
}

function readCall(line: string, words: string): ScriptStep {
  const [, name, json] = /^(\S+)[ \t]+(\{.*\})$/.exec(words) ?? [];
  if (name === undefined || json === undefined || !isJsonObject(parseIfJson(json))) {
    throw createScriptError(line, 'a call has the name of a tool and its arguments, a JSON object');
  }
  return { kind: 'call', name, arguments: json };
}

function readSpokenText(line: string, words: string): ScriptStep {
  const text = parseIfJson(words);
  if (typeof text !== 'string') throw createScriptError(line, 'a text is a JSON string');
  return { kind: 'say', text };
}

function createScriptError(line: string, rule: string): RouterError {
  return new RouterError('invalid_request', `The script line ${line.trim()} is not understood: ${rule}.`, {
    param: 'messages',
  });
}
