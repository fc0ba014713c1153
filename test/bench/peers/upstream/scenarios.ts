/** How an upstream answers. The name of a scenario is the name of its model, so that it passes every system unchanged. */
export interface Scenario {
  firstMs: number;
  /** Milliseconds between two texts; 0 writes all of them at once. */
  everyMs: number;
  /** Texts of a stream; 0 for a whole answer. */
  texts: number;
  /** Milliseconds from the beginning of the answer (head and role) to the first text; 0 writes both together. */
  apartMs: number;
}

export const scenarios = {
  'bench-whole': { firstMs: 0, everyMs: 0, texts: 0, apartMs: 0 },
  /** 25 texts a second; the role comes in the same write as the first text, as from vLLM. */
  'bench-together': { firstMs: 50, everyMs: 40, texts: 25, apartMs: 0 },
  /** The same, but the role comes before the first text, as from the clouds. */
  'bench-apart': { firstMs: 50, everyMs: 40, texts: 25, apartMs: 30 },
  /** Short answers of both kinds, so that one after the other makes enough of them. */
  'bench-short': { firstMs: 20, everyMs: 15, texts: 4, apartMs: 0 },
  'bench-short-apart': { firstMs: 20, everyMs: 15, texts: 4, apartMs: 15 },
  /** Long enough that many of them run at once. */
  'bench-steady': { firstMs: 50, everyMs: 40, texts: 50, apartMs: 0 },
  /** As fast as it can be written. */
  'bench-burst': { firstMs: 0, everyMs: 0, texts: 16, apartMs: 0 },
  'bench-flood': { firstMs: 0, everyMs: 0, texts: 2_000, apartMs: 0 },
  'bench-slow': { firstMs: 5, everyMs: 10_000, texts: 1_000, apartMs: 0 },
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof scenarios;

export type BenchFormat = 'chat' | 'messages';

const formatMarks: Record<BenchFormat, string> = { chat: '', messages: 'messages-' };

/** Returns the model that an upstream of this format answers with this scenario. */
export function modelOf(scenario: ScenarioName, upstream: BenchFormat): string {
  return `${formatMarks[upstream]}${scenario}`;
}

export function modelsOf(upstream: BenchFormat): string[] {
  return (Object.keys(scenarios) as ScenarioName[]).map((name) => modelOf(name, upstream));
}

/** Returns the scenario of a model of any format; undefined for an unknown model. */
export function scenarioOf(model: string): Scenario | undefined {
  const name = model.startsWith(formatMarks.messages) ? model.slice(formatMarks.messages.length) : model;
  return Object.hasOwn(scenarios, name) ? scenarios[name as ScenarioName] : undefined;
}
