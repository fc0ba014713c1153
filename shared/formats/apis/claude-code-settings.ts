import { generatesAnswers, type ModelCard } from '../client-api.ts';

/** The model kinds of Claude Code. Users request each kind by an alias, which an environment variable resolves. */
const modelKinds = ['opus', 'sonnet', 'haiku'] as const;

/**
 * Returns the settings that a signed-in Claude Code reads from the router. With these settings, Claude Code lists the router's models,
 * sends headers that name the purpose of each request, and resolves its aliases to models that are served. The context window in the
 * settings is the smallest window of the models that Claude Code does not know.
 */
export function createClaudeCodeSettings(cards: readonly ModelCard[]): object {
  const models = cards.filter(generatesAnswers);
  const env: Record<string, string> = {
    CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
    CLAUDE_CODE_GATEWAY_HINT_HEADERS: '1',
  };
  for (const kind of modelKinds) {
    const model = findModelOfKind(models, kind);
    if (model === undefined) continue;
    const variable = `ANTHROPIC_DEFAULT_${kind.toUpperCase()}_MODEL`;
    env[variable] = model.id;
    if (!isKnown(model)) env[`${variable}_NAME`] = model.id;
  }
  const windows = models.filter((model) => !isKnown(model)).flatMap(({ contextWindow }) => contextWindow ?? []);
  if (windows.length > 0) env['CLAUDE_CODE_MAX_CONTEXT_TOKENS'] = String(Math.min(...windows));
  return { env };
}

/**
 * Returns the newest known model of a kind, judged by its name. Without such a model, returns `auto`, or the first model if `auto` is not
 * listed.
 */
function findModelOfKind(models: readonly ModelCard[], kind: string): ModelCard | undefined {
  const knownModels = models.filter((model) => isKnown(model) && model.id.includes(kind));
  const [newest] = knownModels.toSorted((a, b) => b.id.localeCompare(a.id, 'en', { numeric: true }));
  return newest ?? models.find(({ id }) => id === 'auto') ?? models[0];
}

/** Whether Claude Code knows the context window of a model. It knows the windows of all models with names that begin with `claude-`. */
function isKnown({ id }: ModelCard): boolean {
  return id.startsWith('claude-');
}
