import { describe, expect, it } from 'vitest';
import { registrySchema } from '#shared/registry/registry.ts';
import { planWorkers, type Findings } from '#services/rtr/up/workers/plan-workers.ts';
import { formatStartSummary } from '#services/rtr/up/start-summary.ts';

const openai = { name: 'openai', title: 'OpenAI', keyVariable: 'OPENAI_API_KEY', missing: [] };
const missing = { keyVariable: 'AWS_BEARER_TOKEN_BEDROCK', missing: ['AWS_REGION'] };
const bedrock = { name: 'bedrock', title: 'Amazon Bedrock', ...missing };
const bedrockNotYet = 'Amazon Bedrock not yet: AWS_BEARER_TOKEN_BEDROCK is set, AWS_REGION not';
const program = { program: '/usr/bin/claude', signedIn: true, hint: 'log in' };
const claude = { kind: 'claude', models: ['sonnet', 'opus'], ...program };
const codex = { ...claude, kind: 'codex', models: [] };

function plan(found: Partial<Findings>, file: object = {}) {
  return planWorkers({ providers: [], clis: [], registry: registrySchema.parse(file), ...found });
}

describe('the workers that a cluster gets in addition to those of engines', () => {
  it('are one per usable provider, none with an address that could get the keys of others', () => {
    const { ready, unready } = plan({ providers: [openai, bedrock] });
    const settings = { PROVIDER: 'openai', PROVIDER_URL: undefined, PROVIDER_KEY: undefined };
    expect(ready.filter(({ tier }) => tier === 'cloud')).toMatchObject([{ settings }]);
    expect(unready).toEqual([{ tier: 'cloud', detail: bedrockNotYet }]);
  });

  it('follow the registry file', () => {
    const file = {
      providers: { openai: { SLOTS: '16' }, custom: { PROVIDER_URL: 'http://x/v1' } },
      clis: { claude: false, codex: { CLI_MODELS: 'gpt-5' }, command: { CLI_COMMAND: 'llm', CLI_MODELS: 'm' } },
      mcpServers: { files: { command: 'mcp-files' } },
    };
    const { ready } = plan({ providers: [openai], clis: [claude, codex] }, file);
    expect(ready.map(({ tier, name, settings }) => ({ tier, name, settings }))).toMatchObject([
      { tier: 'cloud', name: 'openai', settings: { PROVIDER: 'openai', SLOTS: '16', PROVIDER_URL: undefined } },
      { tier: 'cloud', name: 'custom', settings: { PROVIDER: 'custom', PROVIDER_URL: 'http://x/v1' } },
      { tier: 'cli', name: 'codex', settings: { CLI_KIND: 'codex', CLI_MODELS: 'gpt-5' } },
      { tier: 'cli', name: 'command', settings: { CLI_KIND: 'command', CLI_COMMAND: 'llm' } },
      { tier: 'tools', name: 'tools', settings: {} },
    ]);
  });

  it('are agents that are signed in and have models; for the others the plan names what is missing', () => {
    const { ready, unready } = plan({ clis: [claude, codex, { ...claude, kind: 'gemini', signedIn: false }] });
    const settings = { CLI_KIND: 'claude', CLI_COMMAND: '/usr/bin/claude', CLI_MODELS: 'sonnet,opus' };
    expect(ready.filter(({ tier }) => tier === 'cli').map((each) => each.settings)).toEqual([settings]);
    const ofCodex = 'codex not yet: name its models, as clis.codex.CLI_MODELS in ROUTER_CONFIG';
    expect(unready.map(({ detail }) => detail)).toEqual([ofCodex, 'gemini not yet: log in']);
  });

  it('appear in the first lines, with their missing settings', () => {
    const url = 'http://127.0.0.1:8484';
    const urls = { baseUrl: url, consoleUrl: url, metricsUrl: 'http://127.0.0.1:8485/metrics' };
    const keys = { adminToken: undefined, newKey: undefined, maskedKeys: [] };
    const formats = { chatFormat: 'openai' };
    const facts = { ...urls, ...keys, ...formats, engines: [], hasServingWorker: true };
    const text = formatStartSummary({ ...facts, plan: plan({ providers: [openai, bedrock] }), usesDemoEngine: false });
    expect(text).toContain('  cloud     OpenAI (by OPENAI_API_KEY)\n');
    expect(text).toContain(bedrockNotYet);
    expect(text).not.toContain('demo engine');
    expect(text).toContain('  console   http://127.0.0.1:8484\n');
    const onDemo = formatStartSummary({ ...facts, plan: plan({}), usesDemoEngine: true });
    expect(onDemo).toContain('demo engine');
    expect(onDemo).not.toContain('cloud ');
  });
});
