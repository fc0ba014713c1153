import { environment } from '../environment.mjs';

const tokenPhrase = 'the token of your sign-in';

/** Variables that take precedence over `apiKeyHelper` and the base URL in Claude Code (2.1.332), and the effect of each. */
const overrides = {
  ANTHROPIC_AUTH_TOKEN: `Claude Code sends it to the router in place of ${tokenPhrase}`,
  ANTHROPIC_API_KEY: `Claude Code sends it to the router, and may use it in place of ${tokenPhrase}`,
  CLAUDE_CODE_USE_BEDROCK: 'Claude Code asks Amazon Bedrock, and not the router',
  CLAUDE_CODE_USE_VERTEX: 'Claude Code asks Vertex AI, and not the router',
  CLAUDE_CODE_USE_FOUNDRY: 'Claude Code asks Microsoft Foundry, and not the router',
};

/**
 * Returns a warning for each variable that overrides the router's settings in Claude Code.
 * @param {string} file path of the settings file, for the warnings
 * @param {string} content content of the settings file
 * @returns {string[]}
 */
export function findClaudeOverrides(file, content) {
  const inFile = readVariables(content);
  return Object.entries(overrides).flatMap(([name, effect]) => {
    // Variables of the file take precedence over the environment.
    const isInFile = Object.hasOwn(inFile, name);
    const value = String(isInFile ? inFile[name] : (environment[name] ?? ''));
    if (/^(?:|0|false|no|off)$/i.test(value)) return [];
    return isInFile
      ? [`${name} is in the \`env\` of ${file}: ${effect}. Remove it there.`]
      : [`${name} is set in this shell: ${effect}. Unset it here, and in the file in which your shell sets it.`];
  });
}

/**
 * @param {string} content
 * @returns {Record<string, unknown>}
 */
function readVariables(content) {
  try {
    return Object(Object(JSON.parse(content)).env);
  } catch {
    // rtr writes nothing into a file that is not JSON.
    return {};
  }
}
