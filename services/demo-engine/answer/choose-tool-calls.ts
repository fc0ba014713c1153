import { randomUUID } from 'node:crypto';
import { isJsonObject } from '#shared/core/json.ts';
import type { ChatRequest, ChatTool } from '../request/chat-request.ts';
import type { ScriptStep, Turn } from '../request/read-turn.ts';
import { fillSchema } from './fill-schema.ts';
import { isPathLike } from './fill-string.ts';
import { findHints, type Hints, HintPool } from './find-hints.ts';
import { countRequestedTools, asksToRead, findMentions, forbidsTools, type Mention } from './find-mentions.ts';

export interface ToolCall {
  id: string;
  name: string;
  /** Text of a JSON object. */
  arguments: string;
}

const maxCalls = 8;

/**
 * Chooses the tool calls of an answer. The first rule that applies decides:
 * 1. A script: the call of its current step.
 * 2. Tool results in this turn: no call, so that no agent loops.
 * 3. `tool_choice`: the call that it requires.
 * 4. The user's text: the tools that it requests.
 */
export function chooseToolCalls(request: ChatRequest, turn: Turn): ToolCall[] {
  const tools = request.tools ?? [];
  if (tools.length === 0 || request.tool_choice === 'none') return [];
  if (turn.scriptStep) return callByScript(turn.scriptStep, tools);
  if (turn.toolResults.length > 0) return [];
  const mentions = chooseTools(request, tools, turn.userText);
  const calls = mentions.length > 1 ? callEach(mentions, turn.userText) : callOne(mentions[0], turn.userText);
  return calls.slice(0, request.parallel_tool_calls === false ? 1 : maxCalls);
}

/**
 * Returns the call of a script's step. Returns no call if the step is a text, or if the request lacks the tool. The text of the answer then
 * reports the missing tool.
 */
function callByScript(step: ScriptStep, tools: readonly ChatTool[]): ToolCall[] {
  const isOffered = step.kind === 'call' && tools.some((tool) => tool.function.name === step.name);
  return isOffered ? [{ id: createCallId(), name: step.name, arguments: step.arguments }] : [];
}

function chooseTools({ tool_choice: choice }: ChatRequest, tools: readonly ChatTool[], text: string): Mention[] {
  const allMentions = tools.map((tool) => ({ tool, at: 0 }));
  if (typeof choice === 'object' && choice !== null) {
    return allMentions.filter(({ tool }) => tool.function.name === choice.function.name).slice(0, 1);
  }
  if (choice !== 'required' && forbidsTools(text)) return [];
  const mentions = findMentions(tools, text);
  if (mentions.length > 0) return mentions;
  const requestedCount = countRequestedTools(text) ?? (choice === 'required' ? 'one' : undefined);
  if (requestedCount === 'all') return allMentions;
  if (requestedCount === 'one')
    return allMentions.toSorted((a, b) => countNameWords(b.tool, text) - countNameWords(a.tool, text)).slice(0, 1);
  // Reading is harmless, so "read /etc/hosts" need not name the tool.
  const mayRead = asksToRead(text) && findHints(text).path.length > 0;
  return mayRead ? allMentions.filter(({ tool }) => /^read(?:_?file)?$/i.test(tool.function.name)).slice(0, 1) : [];
}

/** Returns how many words of a tool's name the text contains. */
function countNameWords(tool: ChatTool, text: string): number {
  const words = tool.function.name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);
  const lowerText = text.toLowerCase();
  return words.filter((word) => word.length > 2 && lowerText.includes(word)).length;
}

/** Calls several tools. Each call uses the hints between the tool's name and the next name, and takes missing hints from the whole text. */
function callEach(mentions: readonly Mention[], text: string): ToolCall[] {
  const hintsOfText = findHints(text);
  return mentions.map(({ tool, at }, index) => {
    const nearHints = findHints(text.slice(at, mentions[index + 1]?.at));
    const chooseHints = (kind: 'quoted' | 'path' | 'url' | 'name' | 'number'): string[] =>
      nearHints[kind].length > 0 ? nearHints[kind] : hintsOfText[kind];
    const hints: Hints = {
      text,
      quoted: chooseHints('quoted'),
      path: chooseHints('path'),
      url: chooseHints('url'),
      name: chooseHints('name'),
      number: chooseHints('number'),
    };
    return callTool(tool, hints, 0);
  });
}

/** Calls one tool as often as the user requests, or once per path if its arguments contain one path. */
function callOne(mention: Mention | undefined, text: string): ToolCall[] {
  if (!mention) return [];
  const hints = findHints(text);
  const times = Math.min(countCalls(mention.tool, text, hints), maxCalls);
  return Array.from({ length: times }, (_, call) => callTool(mention.tool, hints, call));
}

function countCalls(tool: ChatTool, text: string, hints: Hints): number {
  if (/\b(?:twice|two times)\b/i.test(text)) return 2;
  if (/\bthree times\b/i.test(text)) return 3;
  const times = /\b(\d{1,3}) times\b/i.exec(text);
  if (times) return Math.max(Number(times[1]), 1);
  const required = tool.function.parameters?.['required'];
  const takesOnePath =
    Array.isArray(required) && required.filter((name) => typeof name === 'string' && isPathLike(name)).length === 1;
  const pathCount = takesOnePath ? hints.path.length : 0;
  const asksForParallel = /\b(?:in|as) parallel\b|\bparallel (?:tool )?calls?\b/i.test(text);
  return asksForParallel ? Math.max(pathCount, hints.quoted.length, hints.name.length, 2) : Math.max(pathCount, 1);
}

function callTool(tool: ChatTool, hints: Hints, call: number): ToolCall {
  const { name, parameters } = tool.function;
  // The name of the tool is not an argument, for example in "use Read and Write" or "call `get_time`".
  const isOtherName = (hint: string): boolean => hint.toLowerCase() !== name.toLowerCase();
  const hintPool = new HintPool(
    { ...hints, name: hints.name.filter(isOtherName), quoted: hints.quoted.filter(isOtherName) },
    call,
  );
  const value = fillSchema({ type: 'object', ...parameters }, hintPool, 'required');
  return {
    id: createCallId(),
    name,
    arguments: JSON.stringify(isJsonObject(value) ? value : {}),
  };
}

function createCallId(): string {
  return `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`;
}
