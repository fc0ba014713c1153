import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { JsonObject } from '#shared/core/json.ts';

/** A conversation with Claude Code in one process. */
export interface ClaudeConversation {
  /** The message that ended each turn. */
  results: JsonObject[];
  /** All that the process wrote. */
  messages: JsonObject[];
}

/**
 * Has a conversation with the real Claude Code: each prompt is sent when the turn before it has ended.
 * @param prompts texts, or contents in the messages format
 * @param home the process's home and working directory
 */
export function converseWithClaude(
  command: string,
  prompts: readonly (string | JsonObject[])[],
  { home, model, environment }: { home: string; model: string; environment: Record<string, string> },
): Promise<ClaudeConversation> {
  const streamed = ['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'];
  const child = spawn(command, ['-p', ...streamed, '--model', model], {
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', ...environment },
    timeout: 110_000,
  });
  const conversation: ClaudeConversation = { results: [], messages: [] };
  const speak = (): void => {
    const content = prompts[conversation.results.length];
    if (content === undefined) child.stdin.end();
    else child.stdin.write(`${JSON.stringify({ type: 'user', message: { role: 'user', content } })}\n`);
  };
  createInterface(child.stdout).on('line', (line) => {
    const message = JSON.parse(line) as JsonObject;
    conversation.messages.push(message);
    if (message['type'] !== 'result') return;
    conversation.results.push(message);
    speak();
  });
  child.stderr.resume();
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve(conversation));
    speak();
  });
}
