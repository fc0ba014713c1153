import type { JsonObject } from '#shared/core/json.ts';

/**
 * Settings that leave Gemini CLI nothing but the model: no tools, no context files, no calls home, and one attempt, because
 * a failure is the router's to move to another worker.
 * @param auth its word for how it signs in
 */
export function geminiSettings(auth: string | undefined): JsonObject {
  return {
    general: { maxAttempts: 1, disableAutoUpdate: true, enableAutoUpdate: false, checkpointing: { enabled: false } },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    // A list with nothing real in it: an empty one would mean all.
    tools: { core: ['none'] },
    mcp: { allowed: [] },
    skills: { enabled: false },
    experimental: { enableAgents: false },
    context: { fileName: 'none.md', includeDirectoryTree: false, discoveryMaxDirs: 0 },
    security: { folderTrust: { enabled: false }, ...(auth !== undefined && { auth: { selectedType: auth } }) },
  };
}
