import { expect, it } from 'vitest';
import { readSession } from '#services/ingress/http/read-session.ts';

it.each([
  ['opencode', { 'x-session-affinity': 'ses_1' }],
  ['Claude Code', { 'x-claude-code-session-id': 'ses_1' }],
  ['Codex', { 'session-id': 'ses_1' }],
])("the session in a client's headers is read as %s names it", (_, headers) => {
  expect(readSession(headers)?.name).toBe(readSession({ 'x-session-affinity': 'ses_1' })?.name);
});

it("the session in a client's headers differs for each agent of a session", () => {
  const agents = ['a', 'b'].map((agent) => ({ 'x-claude-code-agent-id': agent }));
  const ofClaude = [{}, ...agents].map((agent) => ({ 'x-claude-code-session-id': 's', ...agent }));
  const sessions = [...ofClaude, { 'session-id': 's', 'thread-id': 't' }].map((headers) => readSession(headers)?.name);
  expect(new Set(sessions).size).toBe(4);
});

it("the session in a client's headers restarts with each window of a Codex thread, and under the same name only in Claude Code", () => {
  const codex = { 'session-id': 's', 'thread-id': 't' };
  const first = readSession({ ...codex, 'x-codex-window-id': 't:0' });
  expect(readSession({ ...codex, 'x-codex-window-id': 't:1' })).not.toEqual(first);
  expect(first?.mayRestart).toBe(false);
  expect(readSession({ 'x-session-affinity': 's' })?.mayRestart).toBe(false);
  expect(readSession({ 'x-claude-code-session-id': 's' })?.mayRestart).toBe(true);
});

it("the session in a client's headers is undefined if none is named, or only an agent", () => {
  expect(readSession({ host: 'x', 'session-id': '' })).toBeUndefined();
  expect(readSession({ 'x-claude-code-agent-id': 'a' })).toBeUndefined();
});

it("the session in a client's headers is read up to 256 characters", () => {
  expect(readSession({ 'session-id': 'x'.repeat(10_000) })?.name).toHaveLength(257);
});
