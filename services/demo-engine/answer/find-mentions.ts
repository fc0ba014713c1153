import type { ChatTool } from '../request/chat-request.ts';

/** A tool that the user asks for by name, and the position of this name in the text. */
export interface Mention {
  tool: ChatTool;
  at: number;
}

const negation = /\b(?:do not|don['’]t|never|without|not|no)\b[^.!?,;\n]*$/i;

/**
 * Finds the tools that a text asks for by name, in the order of the text.
 *
 * A name that is not a plain word (`get_weather`, `WebFetch`) counts anywhere. A plain word (`Read`, `Task`) counts only if it must mean
 * the tool, because the agent runs the call: before or after the word "tool", after "use" or "call", or in quotation marks. A name after a
 * negation in the same clause does not count.
 */
export function findMentions(tools: readonly ChatTool[], text: string): Mention[] {
  return tools
    .flatMap((tool) => {
      const match = findUnnegated(text, createMentionPattern(tool.function.name));
      return match ? [{ tool, at: match.index }] : [];
    })
    .toSorted((a, b) => a.at - b.at);
}

/** Returns whether a text forbids all tools. Agents forbid tools in requests that summarize a conversation. */
export function forbidsTools(text: string): boolean {
  return /\b(?:do not|don['’]t|never|must not)\s+(?:use|call)\s+(?:any\s+)?(?:tools|functions)\b(?!\s+(?:that|which|but|other|except))/i.test(
    text,
  );
}

const anyTools =
  /\b(?:use|using|call|calling|invoke|with)\s+((?:(?:a|an|any|the|your|one|both|all|some|every|each|offered|available|of|these|two)\s+)*)(?:tools?|functions?)\b/gi;

/** Returns how many tools a text requests without naming a tool; undefined if the text requests no tool in this way. */
export function countRequestedTools(text: string): 'one' | 'all' | undefined {
  const match = findUnnegated(text, anyTools);
  if (!match) return undefined;
  return /\b(?:both|all|every|each|two)\b/i.test(match[1] ?? '') ? 'all' : 'one';
}

export function asksToRead(text: string): boolean {
  return findUnnegated(text, /\bread\b/gi) !== undefined;
}

/** Returns the first match that does not follow a negation in its clause. */
function findUnnegated(text: string, pattern: RegExp): RegExpExecArray | undefined {
  return [...text.matchAll(pattern)].find(({ index }) => !negation.test(text.slice(Math.max(0, index - 60), index)));
}

function createMentionPattern(toolName: string): RegExp {
  const name = `(?<![\\w-])${toolName.replaceAll(/\W/g, String.raw`\$&`)}(?![\\w-])`;
  const isPlainWord = /^[A-Z]?[a-z]+$/.test(toolName);
  if (!isPlainWord) return new RegExp(name, 'gi');
  const otherNames = String.raw`(?:(?:\s*,\s*|\s+and\s+|\s+or\s+)[\w-]+)*`;
  return new RegExp(
    [
      `${name}${otherNames}\\s+(?:tools?|functions?)\\b`,
      `(?<=\\b(?:tools?|functions?|use|using|call|calling|invoke)\\s+(?:the\\s+)?)${name}`,
      `(?<=["'\`“])${name}(?=["'\`”])`,
    ].join('|'),
    'gi',
  );
}
