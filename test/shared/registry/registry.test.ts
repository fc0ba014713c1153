import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { followRegistry } from '#shared/registry/follow-registry.ts';
import { parseRegistry } from '#shared/registry/read-registry.ts';
import { emptyRegistry } from '#shared/registry/registry.ts';
import { temporaryFolder } from '../../helpers/files/temporary-folder.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { until } from '../../helpers/until.ts';

const good = `
models:
  fast:
    targets:
      - { model: qwen3-8b, tier: gpu }
      - { model: gpt-5-mini, tier: cloud, weight: 2 }
    defaults: { temperature: 0.2 }
auto:
  tiers: [gpu, cloud]
  max_wait_ms: { gpu: 2000 }
  max_cost: 5
`;

describe('the registry file', () => {
  it('is read with its defaults', () => {
    const fast = { targets: [{ model: 'qwen3-8b', tier: 'gpu' }, { weight: 2 }], defaults: { temperature: 0.2 } };
    expect(parseRegistry(good, 'r.yaml')).toMatchObject({
      models: { fast },
      auto: { tiers: ['gpu', 'cloud'], max_wait_ms: { gpu: 2000 }, max_cost: 5, except: [] },
      prices: {},
    });
  });

  it('that is shipped as an example is valid', () => {
    const example = parseRegistry(readFileSync('deploy/router.example.yaml', 'utf8'), 'deploy/router.example.yaml');
    expect(Object.keys(example.models)).toEqual(['fast']);
  });

  it('has rules by purpose and by the type of an agent, for names, models and auto', () => {
    const text = `
models:
  coder:
    targets: [{ model: claude-opus-5 }]
    purposes:
      auxiliary: { targets: [{ model: qwen3-8b, tier: gpu }] }
    agents:
      Explore: { targets: [{ model: qwen3-8b }, { model: claude-haiku-4-5 }] }
  gpt-5.5:
    purposes: { compaction: { targets: [{ model: gpt-5-mini }] } }
auto:
  purposes: { subagent: { targets: [{ model: qwen3-32b }] } }
`;
    const { models, auto } = parseRegistry(text, 'r.yaml');
    expect(models).toMatchObject({
      coder: {
        purposes: { auxiliary: { targets: [{ model: 'qwen3-8b', tier: 'gpu' }] } },
        agents: { Explore: { targets: [{ model: 'qwen3-8b' }, { model: 'claude-haiku-4-5' }] } },
      },
      'gpt-5.5': { targets: [{ model: 'gpt-5.5' }], purposes: { compaction: { targets: [{ model: 'gpt-5-mini' }] } } },
    });
    expect(auto).toMatchObject({ purposes: { subagent: { targets: [{ model: 'qwen3-32b' }] } }, agents: {} });
  });

  it.each(['', '# nothing yet\n'])('may be empty: %j', (text) => {
    expect(parseRegistry(text, 'r.yaml')).toEqual(emptyRegistry);
  });

  it.each([
    ['models: { fast: { targets: [] } }', 'r.yaml: models.fast.targets: '],
    ['models: { auto: { targets: [{ model: x }] } }', 'r.yaml: models.auto: this name is reserved'],
    ['auto: { tiers: [tools] }', 'r.yaml: auto.tiers.0: '],
    [
      'models: { x: { purposes: { titles: { targets: [{ model: y }] } } } }',
      'r.yaml: models.x.purposes: Unrecognized key: "titles"',
    ],
    ['models: { x: { purposes: { main: { targets: [] } } } }', 'r.yaml: models.x.purposes.main.targets: '],
    ['models: { x: { purposes: { main: { model: y } } } }', 'r.yaml: models.x.purposes.main.targets: '],
    ['auto: { purposes: { main: { targets: [{ tier: gpu }] } } }', 'r.yaml: auto.purposes.main.targets.0.model: '],
    [
      'models: { x: { agents: { "a b": { targets: [{ model: y }] } } } }',
      'r.yaml: models.x.agents.a b: a name is made',
    ],
    ['models: [', 'at line 1'],
  ])('is refused with a sentence that names the mistake: %s', (text, sentence) => {
    expect(() => parseRegistry(text, 'r.yaml')).toThrow(sentence);
  });

  it('that is missing is refused with a sentence', () => {
    expect(() => followRegistry('/nowhere/r.yaml', silentLog)).toThrow('/nowhere/r.yaml cannot be read');
  });

  it('is followed; one that is invalid or gone keeps the previous one in use, and is complained about', async () => {
    const file = join(temporaryFolder(), 'r.yaml');
    writeFileSync(file, good);
    const log = silentLog.child({});
    const [mistake, warning] = [vi.spyOn(log, 'error'), vi.spyOn(log, 'warn')];
    const registry = stopAfterTest(followRegistry(file, log));
    const names = () => Object.keys(registry.current().models);
    const changes: string[][] = [];
    registry.onChange(() => changes.push(names()));
    writeFileSync(file, 'models: [');
    await until(() => expect(mistake).toHaveBeenCalledOnce());
    expect(names()).toEqual(['fast']);
    rmSync(file);
    await until(() => expect(warning).toHaveBeenCalled());
    expect(names()).toEqual(['fast']);
    writeFileSync(file, good.replace('fast', 'faster'));
    await until(() => expect(changes).toEqual([['faster']]));
  });

  it('that changes is announced to every listener, and a listener that throws does not count as unreadable', async () => {
    const file = join(temporaryFolder(), 'r.yaml');
    writeFileSync(file, good);
    const log = silentLog.child({});
    const [mistake, warning] = [vi.spyOn(log, 'error'), vi.spyOn(log, 'warn')];
    const registry = stopAfterTest(followRegistry(file, log));
    let changes = 0;
    registry.onChange(() => {
      throw new Error('broken');
    });
    registry.onChange(() => (changes += 1));
    writeFileSync(file, good.replace('fast', 'faster'));
    await until(() => changes > 0);
    expect(mistake).toHaveBeenCalledExactlyOnceWith(expect.anything(), 'a listener failed');
    expect(warning).not.toHaveBeenCalled();
  });
});
