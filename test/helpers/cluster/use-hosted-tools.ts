import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll } from 'vitest';
import { useFolder } from '../files/temporary-folder.ts';
import { until } from '../until.ts';
import { useStarted } from '../use-started.ts';
import { commonIngress } from './common-ingress.ts';
import { useCluster } from './share-cluster.ts';

/**
 * Shares a cluster for the tests of a file. Its ingress runs hosted tools through `mcp-test-server.ts`, for engines without their own; an
 * ingress of the plain cluster has no such tools. The diary is the file in which the MCP server records its calls.
 */
export function useHostedTools() {
  const folder = useFolder();
  const [diary, config] = [join(folder, 'diary'), join(folder, 'mcp.json')];
  writeFileSync(diary, '');
  const args = [resolve('test/helpers/upstreams/mcp-test-server.ts'), diary];
  writeFileSync(config, JSON.stringify({ mcpServers: { 'my pages': { command: 'node', args } } }));
  const withoutTools = useCluster();
  const cluster = useCluster({ ingress: commonIngress() });
  const toolsWorker = useStarted(() => cluster.addToolsWorker({ MCP_CONFIG: config }));
  beforeAll(() =>
    until(async () => {
      const headers = { authorization: `Bearer ${cluster.key}` };
      return (await (await fetch(`${cluster.url}/api/tools/v1/list`, { headers })).text()).includes('find_pages');
    }),
  );
  return { cluster, withoutTools, toolsWorker, diary };
}
