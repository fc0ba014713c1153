import { Button, Group, Stack, Switch, Text, Textarea, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState, type SyntheticEvent } from 'react';
import type { ApiFailure } from '../../api/call-api.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { Failure } from '../../parts/failure.tsx';
import { formatDuration } from '../../parts/format.ts';
import { FieldInput } from './field-input.tsx';
import { FieldProblem, readFormFields, readForm } from './form-fields.ts';
import { runTool, type ListedTool, type ToolResult } from './run-tool.ts';

export function ToolRunner({ tool: { name, description, inputSchema } }: { tool: ListedTool }) {
  const fields = readFormFields(inputSchema);
  const [typedTexts, setTypedTexts] = useState<Record<string, string>>({});
  const [typedJson, setTypedJson] = useState('{}');
  const [writesJson, setWritesJson] = useState(fields === undefined);
  const [problem, setProblem] = useState<FieldProblem>();
  const lastRun = useRef<AbortController>(undefined);
  const run = useMutation<ToolResult, ApiFailure, unknown>({
    mutationFn: (input) => {
      lastRun.current = new AbortController();
      return runTool(name, input, lastRun.current.signal);
    },
  });
  const readInput = (): unknown => (writesJson || !fields ? parseJson(typedJson) : readForm(fields, typedTexts));
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault();
    setProblem(undefined);
    try {
      run.mutate(readInput());
    } catch (error) {
      if (!(error instanceof FieldProblem)) throw error;
      setProblem(error);
    }
  };
  const wasStopped = lastRun.current?.signal.aborted === true;
  return (
    <Stack gap="sm">
      <Text size="sm" className="break" style={{ whiteSpace: 'pre-wrap' }}>
        {description}
      </Text>
      <div className="halves">
        <form className="panel" onSubmit={onSubmit} noValidate>
          <Stack gap="sm">
            <Title order={2}>Input</Title>
            {fields === undefined ? null : (
              <Switch
                label="Write JSON"
                checked={writesJson}
                onChange={({ currentTarget }) => setWritesJson(currentTarget.checked)}
              />
            )}
            {writesJson || !fields ? (
              <Textarea
                label="JSON"
                autosize
                minRows={4}
                maxRows={20}
                value={typedJson}
                error={problem?.message}
                styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
                onChange={({ currentTarget }) => setTypedJson(currentTarget.value)}
              />
            ) : (
              fields.map((field) => (
                <FieldInput
                  key={field.name}
                  field={field}
                  value={typedTexts[field.name] ?? field.initial}
                  problem={problem?.field === field.name ? problem.message : undefined}
                  onChange={(value) => setTypedTexts((before) => ({ ...before, [field.name]: value }))}
                />
              ))
            )}
            {fields?.length === 0 && !writesJson ? (
              <Text size="sm" c="dimmed">
                This tool takes no input.
              </Text>
            ) : null}
            <Group>
              <Button type="submit" loading={run.isPending}>
                Run
              </Button>
              {run.isPending ? (
                <Button variant="default" onClick={() => lastRun.current?.abort()}>
                  Stop
                </Button>
              ) : null}
            </Group>
          </Stack>
        </form>
        <section className="panel" aria-label="Result" aria-live="polite">
          <Stack gap="sm">
            <Title order={2}>Result</Title>
            {run.error && !wasStopped ? <Failure title="The tool was not run" error={run.error} /> : null}
            {run.error && wasStopped ? <Text size="sm">You stopped the tool.</Text> : null}
            {run.data ? <Result result={run.data} /> : null}
            {run.isIdle ? (
              <Text size="sm" c="dimmed">
                Fill in the input and run the tool. The result appears here.
              </Text>
            ) : null}
          </Stack>
        </section>
      </div>
      <details>
        <summary>
          <Text span size="sm">
            Schema of the input
          </Text>
        </summary>
        <CodeBlock code={JSON.stringify(inputSchema, null, 2)} label="the schema" />
      </details>
    </Stack>
  );
}

function Result({ result: { isError, text, images, structured, ms } }: { result: ToolResult }) {
  return (
    <>
      <Text size="sm" c={isError ? 'var(--mantine-color-error)' : 'dimmed'}>
        {isError ? 'The tool failed' : 'Done'} after {formatDuration(ms)}
      </Text>
      {text === '' ? null : <CodeBlock wrap code={text} label="the result" />}
      {images.map((url, index) => (
        // oxlint-disable-next-line no-array-index-key -- a result never changes
        <img key={index} src={url} alt={`Result ${index + 1}`} style={{ maxWidth: '100%' }} />
      ))}
      {structured ? <CodeBlock code={JSON.stringify(structured, null, 2)} label="the structured result" /> : null}
    </>
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new FieldProblem('', `This is not JSON: ${error.message}`);
    throw error;
  }
}
