import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findWrittenSettings } from '#services/rtr/client/lib/programs/find-written-settings.mjs';
import { mergeJson } from '#services/rtr/client/lib/programs/merge-json.mjs';
import { mergeToml } from '#services/rtr/client/lib/programs/merge-toml.mjs';
import { clientHome } from '../../../helpers/rtr/client-home.ts';

let { home, write } = {} as ReturnType<typeof clientHome>;

beforeEach(() => {
  ({ home, write } = clientHome());
  for (const name of ['XDG_CONFIG_HOME', 'CLAUDE_CONFIG_DIR', 'CODEX_HOME']) vi.stubEnv(name, home);
});
afterEach(() => void vi.unstubAllEnvs());

const read = (name: string) => readFileSync(join(home, name), 'utf8');
const undoAll = () => {
  for (const { undo } of findWrittenSettings()) undo();
};

describe('the settings of Claude Code', () => {
  const name = 'settings.json';
  const written = {
    apiKeyHelper: '/usr/bin/node /opt/rtr.mjs token --router https://llm.example.com',
    env: {
      ANTHROPIC_BASE_URL: 'https://llm.example.com',
      CLAUDE_CODE_API_KEY_HELPER_TTL_MS: '300000',
      ANTHROPIC_DEFAULT_OPUS_MODEL: 'auto',
    },
  };

  it('become what they were, with their form', () => {
    const original = '{\n    "apiKeyHelper": "mine",\n    "env": { "A": "1" }\n}\n';
    const pretty = `${JSON.stringify(JSON.parse(original), undefined, 4)}\n`;
    write(`${name}.before-rtr`, pretty);
    write(name, mergeJson(name, pretty, written));
    undoAll();
    expect(read(name)).toBe(pretty);
    expect(existsSync(join(home, `${name}.before-rtr`))).toBe(false);
  });

  it('keep what was changed since', () => {
    write(`${name}.before-rtr`, '{ "theme": "dark" }');
    write(name, mergeJson(name, '{ "theme": "light" }', { ...written, env: { ...written.env, MINE: '1' } }));
    undoAll();
    expect(JSON.parse(read(name))).toEqual({ theme: 'light', env: { MINE: '1' } });
    expect(read(`${name}.before-rtr`)).toBe('{ "theme": "dark" }');
  });

  it('go with their file if nothing else is in it', () => {
    write(name, mergeJson(name, '', written));
    undoAll();
    expect(existsSync(join(home, name))).toBe(false);
  });

  it('are left alone if the helper is another program', () => {
    write(name, '{ "apiKeyHelper": "vault read token", "env": { "ANTHROPIC_BASE_URL": "x" } }');
    expect(findWrittenSettings()).toEqual([]);
  });
});

describe('the settings of Codex', () => {
  const name = 'config.toml';
  const tables = { 'model_providers.rtr': { name: 'Model Router' }, 'model_providers.rtr.auth': { command: 'rtr' } };
  const merge = (before: string) => mergeToml(before, { model: 'auto', model_provider: 'rtr' }, tables);

  it('become what they were, in the order in which they were', () => {
    const original = '# mine\r\napproval = "never"\r\nmodel = "gpt-5.5" # the best\r\n\r\n[tui]\r\nx = 1\r\n';
    write(`${name}.before-rtr`, original);
    write(name, merge(original));
    undoAll();
    expect(read(name)).toBe(original);
  });

  it('keep what was changed since', () => {
    write(`${name}.before-rtr`, 'model_provider = "azure"\n');
    write(name, `${merge('model_provider = "azure"\n').replace('"auto"', '"mine"')}\n[tui]\nx = 1\n`);
    undoAll();
    expect(read(name)).toBe('model_provider = "azure"\nmodel = "mine"\n\n[tui]\nx = 1\n');
  });

  it('go with their file if nothing else is in it', () => {
    write(name, merge(''));
    undoAll();
    expect(existsSync(join(home, name))).toBe(false);
  });
});

it("opencode's plugin is deleted, and a file of the same name that rtr has not written stays", () => {
  const path = 'opencode/plugin/rtr.js';
  write(path, '// mine');
  expect(findWrittenSettings()).toEqual([]);
  write(path, '// Written by `rtr env opencode`: the models of a Model Router, with a fresh token for each request.\n');
  undoAll();
  expect(existsSync(join(home, path))).toBe(false);
});
