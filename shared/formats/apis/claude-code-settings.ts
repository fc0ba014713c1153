import { generates, type ModelCard } from '../client-api.ts';

/** Claude Code's kinds of models: each is asked for by an alias that a setting of its environment resolves. */
const kinds = ['opus', 'sonnet', 'haiku'] as const;

/**
 * The settings that Claude Code gets from the router that it is signed in to: it lists the router's models and says what each request is
 * for, its aliases stand for models that are served, and its window is that of the smallest one that it does not know.
 */
export function claudeCodeSettings(cards: readonly ModelCard[]): object {
  const models = cards.filter(generates);
  const env: Record<string, string> = {
    CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
    CLAUDE_CODE_GATEWAY_HINT_HEADERS: '1',
  };
  for (const kind of kinds) {
    const model = ofKind(models, kind);
    if (model === undefined) continue;
    const variable = `ANTHROPIC_DEFAULT_${kind.toUpperCase()}_MODEL`;
    env[variable] = model.id;
    if (!isKnown(model)) env[`${variable}_NAME`] = model.id;
  }
  const windows = models.filter((model) => !isKnown(model)).flatMap(({ contextWindow }) => contextWindow ?? []);
  if (windows.length > 0) env['CLAUDE_CODE_MAX_CONTEXT_TOKENS'] = String(Math.min(...windows));
  return { env };
}

/** The newest model of a kind by its name; any model, where there is none. */
function ofKind(models: readonly ModelCard[], kind: string): ModelCard | undefined {
  const named = models.filter((model) => isKnown(model) && model.id.includes(kind));
  const [newest] = named.toSorted((a, b) => b.id.localeCompare(a.id, 'en', { numeric: true }));
  return newest ?? models.find(({ id }) => id === 'auto') ?? models[0];
}

/** Whether Claude Code knows a model, and its window, by its name. */
function isKnown({ id }: ModelCard): boolean {
  return id.startsWith('claude-');
}
