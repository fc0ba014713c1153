import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkInThread } from '#shared/registry/check-in-thread.ts';
import { checkRegistry, type CheckedRegistry } from '#shared/registry/check-registry.ts';
import { maxRegistryBytes } from '#shared/registry/editable-sections.ts';
import { formatProblem } from '#shared/registry/registry-problem.ts';
import { parseRegistry } from '#shared/registry/read-registry.ts';
import { emptyRegistry, registrySchema } from '#shared/registry/registry.ts';

const text = `# Mine
models:
  fast: # for everybody
    targets:
      - { model: qwen3-8b, tier: gpu }
      - model: gpt-5-mini
        weight: 2
auto: { tiers: [gpu, cloud] }
`;

/** The mistakes of a text, as sentences. */
function problemsOf(checked: CheckedRegistry): string[] {
  return 'problems' in checked ? checked.problems.map(formatProblem) : [];
}

describe('a registry that is edited at run time', () => {
  it('is kept as it was written, together with its values', () => {
    const targets = [
      { model: 'qwen3-8b', tier: 'gpu' },
      { model: 'gpt-5-mini', weight: 2 },
    ];
    const config = { models: { fast: { targets } }, auto: { tiers: ['gpu', 'cloud'] } };
    expect(checkRegistry({ text })).toEqual({ text, config });
  });

  it('is written as YAML if it comes as JSON', () => {
    const config = { models: { fast: { targets: [{ model: 'qwen3-8b', tier: 'gpu' }] } } };
    const checked = checkRegistry({ config });
    expect(checked).toMatchObject({ config });
    expect('text' in checked && checked.text).toContain('models:\n  fast:\n    targets:\n      - model: qwen3-8b\n');
  });

  it.each(['', '# nothing yet\n', '{}'])('may be empty: %j', (empty) => {
    const checked = checkRegistry({ text: empty });
    expect(checked).toEqual({ text: empty, config: {} });
    expect(registrySchema.parse('config' in checked ? checked.config : undefined)).toEqual(emptyRegistry);
  });

  it('cannot define a name that would be unreachable', () => {
    const targets = 'targets: [{ model: a }]';
    const wrong = `models:\n  __proto__:\n    ${targets}\n  b:\n    agents: { __proto__: { ${targets} } }\n`;
    const why = 'nothing can have this name';
    const expected = [`line 2, models.__proto__: ${why}`, `line 5, models.b.agents.__proto__: ${why}`];
    expect(problemsOf(checkRegistry({ text: wrong }))).toEqual(expected);
    expect(() => parseRegistry(wrong, 'router.yaml')).toThrow(`router.yaml: models.__proto__: ${why}`);
    // A name that every object has as a property is a name like any other.
    expect(problemsOf(checkRegistry({ text: `models:\n  constructor:\n    ${targets}\n` }))).toEqual([]);
  });

  it('reports all mistakes by line and field', () => {
    const wrong = text.replace('weight: 2', 'weight: -2').replace('gpu, cloud', 'gpu, tools');
    expect(problemsOf(checkRegistry({ text: wrong }))).toEqual([
      expect.stringContaining('line 7, models.fast.targets.1.weight: Too small'),
      expect.stringContaining('line 8, auto.tiers.1: Invalid option'),
    ]);
  });

  it.each([
    ['modles: {}', 'line 1, modles: Unrecognized key: "modles"'],
    ['models:\n  x:\n    targets: [{ modl: y }]\n', 'line 3, models.x.targets.0.modl: Unrecognized key: "modl"'],
    ['models:\n  x:\n    targets: [{}]\n', 'line 3, models.x.targets.0.model: Invalid input'],
    ['models:\n  auto: {}\n', 'line 2, models.auto: this name is reserved'],
    ['models:\n  "a b": {}\n', 'line 2, models.a b: a name is made of'],
    ['models: [', 'line 1: Flow sequence in block collection'],
    ['models: {}\nauto: {}\nmodels: {}\n', 'line 3: Map keys must be unique'],
    ['- models', 'Invalid input: expected object'],
    ['models: just text', 'line 1, models: Invalid input'],
  ])('reports the mistake of %j', (wrong, sentence) => {
    expect(problemsOf(checkRegistry({ text: wrong })).join('; ')).toContain(sentence);
  });

  it('cannot have sections that are allowed only in the file, whatever their content', () => {
    const own = new Set(['models', 'auto', 'hosted_tools', 'credentials']);
    const sections = Object.keys(registrySchema.shape).filter((name) => !own.has(name));
    expect(sections.length).toBeGreaterThan(5);
    const foreign = sections.map((name) => `${name}: {}\n`).join('');
    const problems = problemsOf(checkRegistry({ text: `models: {}\n${foreign}` }));
    const places = sections.map((name, at) => `line ${at + 2}, ${name}`);
    expect(problems.map((problem) => problem.split(':')[0])).toEqual(places);
    expect(problems.find((problem) => problem.includes('sign_in'))).toContain('ROUTER_CONFIG');
    expect(problems.find((problem) => problem.includes('prices'))).toContain('page Prices');
    const example = readFileSync('deploy/router.example.yaml', 'utf8');
    expect(problemsOf(checkRegistry({ text: example }))).toHaveLength(sections.length);
  });

  it('is limited in size, as a text and with its aliases expanded', () => {
    const comment = `# ${'x'.repeat(maxRegistryBytes)}\n`;
    expect(problemsOf(checkRegistry({ text: comment }))).toEqual(['the text is larger than 256 KiB']);
    const defaults = `{ a: ${'x'.repeat(20_000)} }`;
    const aliases = Array.from({ length: 20 }, (_, at) => `  m${at}: { defaults: *d }\n`).join('');
    const bomb = `models:\n  m: { defaults: &d ${defaults} }\n${aliases}`;
    expect(problemsOf(checkRegistry({ text: bomb }))).toEqual(['what its aliases stand for is larger than 256 KiB']);
  });

  it('ends no process, however it is nested', async () => {
    const deep = `models: { x: { defaults: { a: ${'['.repeat(50_000)}${']'.repeat(50_000)} } } }`;
    const lines = ['a: &a0 [x]'];
    for (let at = 1; at < 12; at++) lines.push(`b${at}: &a${at} [${`*a${at - 1}, `.repeat(10)}]`);
    for (const hostile of [deep, lines.join('\n')])
      expect(problemsOf(await checkInThread({ text: hostile })).join()).not.toBe('');
  });

  it('is checked in a thread with the same result', async () => {
    for (const each of [text, 'modles: {}'])
      expect(await checkInThread({ text: each })).toEqual(checkRegistry({ text: each }));
  });
});
