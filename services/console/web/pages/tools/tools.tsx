import { Anchor, Button, Code, Stack, Text } from '@mantine/core';
import { Link, useParams } from 'wouter';
import { DataList } from '../../parts/data-list.tsx';
import { EmptyPanel, Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { type ListedTool, useTools } from './run-tool.ts';
import { ToolRunner } from './tool-runner.tsx';

export function Tools() {
  const tools = useTools();
  const encodedName = useParams()['*'];
  const name = encodedName === undefined || encodedName === '' ? undefined : decodeURIComponent(encodedName);
  return name === undefined ? (
    <Page
      title="Tools"
      description="The tools of connected tools workers and their MCP servers. You can run them here without a model."
    >
      <Loaded query={tools} contentName="the tools">
        {(list) => <ToolList tools={list} />}
      </Loaded>
    </Page>
  ) : (
    <Page title={name} actions={<Link href="/tools">All tools</Link>}>
      <Loaded query={tools} contentName="the tool">
        {(list) => {
          const tool = list.find((listedTool) => listedTool.name === name);
          return tool ? (
            <ToolRunner tool={tool} />
          ) : (
            <EmptyPanel title="This tool is not available">
              No connected worker has this tool right now. <Link href="/tools">See all tools</Link>
            </EmptyPanel>
          );
        }}
      </Loaded>
    </Page>
  );
}

function ToolList({ tools }: { tools: readonly ListedTool[] }) {
  if (tools.length === 0) {
    return (
      <EmptyPanel title="No tools yet">
        Models call tools, and the router runs them. Start a tools worker: <Code>rtr worker tools</Code>. It has a
        calculator, the time and a web page fetcher, and with <Code>MCP_CONFIG</Code> the tools of your MCP servers. See{' '}
        <Code>docs/tools.md</Code>.
      </EmptyPanel>
    );
  }
  return (
    <Stack gap="xs">
      <DataList
        label="Tools"
        rows={tools}
        getId={({ name }) => name}
        columns={[
          {
            label: 'Tool',
            render: ({ name }) => (
              <Anchor component={Link} href={`/tools/${encodeURIComponent(name)}`} size="sm" fw={600} className="break">
                {name}
              </Anchor>
            ),
            sortBy: ({ name }) => name,
          },
          {
            label: 'What it does',
            render: ({ description }) => (
              <Text size="sm" lineClamp={3} className="break">
                {description}
              </Text>
            ),
            search: ({ description }) => description ?? '',
          },
          { label: 'Worker', sortBy: ({ worker }) => worker },
        ]}
        address=""
        actions={({ name }) => (
          <Button
            component={Link}
            href={`/tools/${encodeURIComponent(name)}`}
            size="xs"
            variant="default"
            aria-label={`Run ${name}`}
          >
            Run
          </Button>
        )}
      />
    </Stack>
  );
}
