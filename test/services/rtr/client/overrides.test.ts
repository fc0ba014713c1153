import { readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { clientHome, signedInFiles } from '../../../helpers/rtr/client-home.ts';
import { serveInTest } from '../../../helpers/servers/serve-http.ts';

let { write, run } = {} as ReturnType<typeof clientHome>;

/** A person who is signed in to a router that serves one model, `demo`. */
beforeEach(async () => {
  const router = await serveInTest((_, response) => response.end('{"data":[{"id":"demo"}],"settings":{"env":{}}}'));
  const apis = { openai: `${router}/openai`, anthropic: `${router}/anthropic` };
  const kept = { accessToken: 'a', refreshToken: 'r', expiresAt: Date.now() + 900_000 };
  const { tokensFile, lists } = signedInFiles(router);
  const tokens = JSON.stringify({ router, tokenEndpoint: `${router}/t`, apis, ...kept });
  ({ write, run } = clientHome({ ...lists, [tokensFile]: tokens }));
});

describe('a setting that takes precedence over the router in Claude Code', () => {
  const effect = 'Claude Code sends it to the router in place of the token of your sign-in';

  it('is reported from its file, each time, and stays there', async () => {
    const file = write('.claude/settings.json', '{"env": {"ANTHROPIC_AUTH_TOKEN": "mine"}}');
    const warning = `Warning: ANTHROPIC_AUTH_TOKEN is in the \`env\` of ${file}: ${effect}. Remove it there.\n`;
    const words = ['env', 'claude', '--write'];
    const out = `${file} is written. The original file is kept as ${file}.before-rtr.\n`;
    expect(await run(words)).toEqual({ code: 0, out, err: warning });
    expect(await run(words)).toEqual({ code: 0, out: `${file} has these settings already.\n`, err: warning });
    expect((await run(['env', 'claude'])).err).toContain(warning);
    const { env, apiKeyHelper } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    expect([env, apiKeyHelper]).toMatchObject([{ ANTHROPIC_AUTH_TOKEN: 'mine' }, expect.any(String)]);
  });

  it('is reported from the shell, unless the file overrides it', async () => {
    const words = ['env', 'claude', '--write'];
    const variables = { ANTHROPIC_API_KEY: 'sk-mine', CLAUDE_CODE_USE_BEDROCK: '1' };
    const key = await run(words, variables);
    expect(key.err.split('\n')).toEqual([
      expect.stringMatching(/^Warning: ANTHROPIC_API_KEY is set in this shell: .* Unset it/),
      'Warning: CLAUDE_CODE_USE_BEDROCK is set in this shell: Claude Code asks Amazon Bedrock, and not the router. Unset it here, and in the file in which your shell sets it.',
      '',
    ]);
    expect(key.err).not.toContain('sk-mine');
    write('.claude/settings.json', '{"env": {"ANTHROPIC_API_KEY": "", "CLAUDE_CODE_USE_BEDROCK": "0"}}');
    expect(await run(words, variables)).toMatchObject({ code: 0, err: '' });
  });
});

describe('a setting that takes precedence over the router in Codex', () => {
  const top = 'profile = "work" # mine\n';

  it('is the provider of the active profile, which is reported in each spelling', async () => {
    for (const content of [
      `${top}[profiles.work]\nmodel_provider = 'other' # mine\n`,
      `${top}profiles.work.model_provider = "other"\n`,
      `${top}profiles.work = { model = "x", model_provider = "other" }\n`,
      `${top}[profiles]\nwork = { "model_provider"="other" }\n`,
    ]) {
      const file = write('.codex/config.toml', content);
      const { out, err } = await run(['env', 'codex', '--write']);
      expect(out).toContain(`${file} is written.`);
      const warning = `Warning: The profile work is active in ${file}, and its \`model_provider\` is other: Codex does not use the router.`;
      expect(err).toBe(`${warning} Remove the line with \`profile\`, or that \`model_provider\`.\n`);
      expect(readFileSync(file, 'utf8')).toContain(content.slice(content.indexOf('\n') + 1).trim());
    }
  });

  it('is not a profile that is inactive, has no provider, or has the router', async () => {
    for (const content of [
      '[profiles.work]\nmodel_provider = "other"\n',
      `${top}[profiles.work]\nmodel = "x"\n[profiles.home]\nmodel_provider = "other"\n`,
      `${top}[profiles.work]\nmodel_provider = "rtr"\n`,
      '[tui]\nprofile = "work"\n[profiles.work]\nmodel_provider = "other"\n',
    ]) {
      write('.codex/config.toml', content);
      expect(await run(['env', 'codex', '--write'])).toMatchObject({ code: 0, err: '' });
    }
  });

  it('is not the model of a table, which is not taken for the chosen one', async () => {
    const file = write('.codex/config.toml', 'model = "gone" # why\n[profiles.work]\nmodel = "demo"\n');
    await run(['env', 'codex', '--write']);
    expect(readFileSync(file, 'utf8')).toMatch(/^model = "auto" # why\nmodel_provider = "rtr"\n/);
    writeFileSync(file, '[profiles.work]\nmodel = "demo"\n');
    await run(['env', 'codex', '--write']);
    expect(readFileSync(file, 'utf8')).toMatch(/^model = "auto"\n/);
  });
});
