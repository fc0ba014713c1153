import { readText, type ChatMessage } from './chat-request.ts';
import { findDemoWords, removeDemoLine } from './demo-options.ts';
import { readScript, type ScriptStep } from './read-script.ts';

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
