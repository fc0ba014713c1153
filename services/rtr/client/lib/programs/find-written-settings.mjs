import { existsSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { isObject, parseObject } from '../json-object.mjs';
import { replaceFile } from '../store/replace-file.mjs';
import { admittedNames, findClaudeFile } from './claude.mjs';
import { findCodexFile } from './codex.mjs';
import { mergeJson } from './merge-json.mjs';
import { mergeToml } from './merge-toml.mjs';
import { findOpencodeFile } from './opencode.mjs';
import { findText, parseTomlLines } from './toml-lines.mjs';

/** The names in the environment of Claude Code that `rtr env claude` sets itself, besides those that the router sets. */
const claudeNames = new Set(['ANTHROPIC_BASE_URL', 'CLAUDE_CODE_API_KEY_HELPER_TTL_MS']);

/**
 * How the settings of a program that `rtr env --write` has made are recognised and removed.
 * @typedef {object} Undo
 * @property {() => string} findFile returns the path of the settings file
 * @property {(content: string) => boolean} isWritten
 * @property {(content: string, original: string, file: string) => string} remove returns the content without the settings of the router, and
 * with the values of the original in their place; everything else stays
 */

/** @type {Record<string, Undo>} */
const undos = {
  claude: {
    findFile: findClaudeFile,
    isWritten: (content) => / token --router /.test(String(parseObject(content)['apiKeyHelper'])),
    remove: removeFromClaude,
  },
  codex: {
    findFile: findCodexFile,
    isWritten: (content) => parseTomlLines(content).some(({ table }) => table === 'model_providers.rtr'),
    remove: removeFromCodex,
  },
  opencode: {
    findFile: findOpencodeFile,
    isWritten: (content) => content.startsWith('// Written by `rtr env opencode`'),
    remove: () => '',
  },
};

/**
 * Returns the settings files that have settings of `rtr env --write`.
 * @returns {{ file: string, undo: () => void }[]} `undo` removes these settings, and the file if nothing else is in it
 */
export function findWrittenSettings() {
  return Object.values(undos).flatMap(({ findFile, isWritten, remove }) => {
    const file = findFile();
    if (!existsSync(file) || !isWritten(readFileSync(file, 'utf8'))) return [];
    return [{ file, undo: () => undoFile(file, remove) }];
  });
}

/**
 * Removes the settings from a file. If only they were changed since the first one was written, the file becomes exactly what it was.
 * @param {string} file
 * @param {Undo['remove']} remove
 */
function undoFile(file, remove) {
  const backup = `${file}.before-rtr`;
  const original = existsSync(backup) ? readFileSync(backup, 'utf8') : '';
  const after = remove(readFileSync(file, 'utf8'), original, file);
  const isOriginal = haveSameLines(after, original);
  // A symbolic link is not replaced, because some people keep their settings in a repository.
  const target = realpathSync(file);
  if (after === '' && original === '') rmSync(file);
  else replaceFile(target, isOriginal ? original : after, statSync(target).mode & 0o777);
  if (isOriginal) rmSync(backup, { force: true });
}

/**
 * @param {string} content
 * @param {string} originalText
 * @param {string} file
 */
function removeFromClaude(content, originalText, file) {
  const original = parseObject(originalText);
  const { env } = parseObject(content);
  const originalEnv = isObject(original['env']) ? original['env'] : {};
  const names = Object.keys(Object(env)).filter((name) => claudeNames.has(name) || admittedNames.test(name));
  const restored = Object.fromEntries(names.map((name) => [name, originalEnv[name]]));
  const remains = Object.entries({ ...Object(env), ...restored }).some(([, value]) => value !== undefined);
  const hasEnv = remains || original['env'] !== undefined;
  const after = mergeJson(file, content, {
    apiKeyHelper: original['apiKeyHelper'],
    env: hasEnv ? restored : undefined,
  });
  return after === '{}\n' && originalText === '' ? '' : after;
}

/**
 * @param {string} content
 * @param {string} originalText
 */
function removeFromCodex(content, originalText) {
  const original = parseTomlLines(originalText);
  const current = parseTomlLines(content);
  /** @type {Record<string, string | undefined>} */
  const restored = {};
  for (const [name, written] of [
    ['model', 'auto'],
    ['model_provider', 'rtr'],
  ]) {
    if (name !== undefined && findText(current, name) === written) restored[name] = findText(original, name);
  }
  return mergeToml(content, restored, { 'model_providers.rtr': undefined, 'model_providers.rtr.auth': undefined });
}

/**
 * Returns whether two texts have the same lines, in whatever order, with whatever indentation and empty lines.
 * @param {string} one
 * @param {string} other
 */
function haveSameLines(one, other) {
  const [lines, otherLines] = [one, other].map((text) =>
    text
      .split('\n')
      .flatMap((line) => line.trim().replaceAll(/\s+/g, ' ') || [])
      .toSorted((a, b) => a.localeCompare(b))
      .join('\n'),
  );
  return lines === otherLines;
}
