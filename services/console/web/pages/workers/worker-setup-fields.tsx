import { Select, Text, TextInput } from '@mantine/core';
import { cliKinds, providers, type WorkerSetup } from './join-command.ts';

export interface BehindFieldsProps {
  behind: WorkerSetup;
  onChange: (changed: Partial<WorkerSetup>) => void;
}

/** The fields for the engine, command-line agent, provider or tools of a worker, by its tier. */
export function WorkerSetupFields({ behind, onChange }: BehindFieldsProps) {
  const text = (name: keyof WorkerSetup, label: string, description: string, required = true) => (
    <TextInput
      label={label}
      description={description}
      required={required}
      value={behind[name]}
      onChange={({ currentTarget }) => onChange({ [name]: currentTarget.value })}
    />
  );
  switch (behind.tier) {
    case 'gpu':
      return text(
        'engineUrl',
        'Address of the engine',
        'As that machine reaches it: vLLM, SGLang, llama.cpp, Ollama, LM Studio, or any other of the OpenAI format',
      );
    case 'cli':
      return (
        <>
          <Select
            label="Command-line agent"
            description="It is installed there, and signed in"
            data={[...cliKinds]}
            value={behind.cli}
            allowDeselect={false}
            onChange={(value) => {
              const cli = cliKinds.find((kind) => kind === value);
              if (cli) onChange({ cli });
            }}
          />
          {behind.cli === 'command'
            ? text('cliCommand', 'Command', 'A program with its arguments, in which {model} stands for the model')
            : null}
          {text('cliModels', 'Models', 'By the names that the agent gives them, separated by commas')}
        </>
      );
    case 'cloud':
      return (
        <>
          <Select
            label="Provider"
            data={[...providers]}
            value={behind.provider}
            allowDeselect={false}
            searchable
            onChange={(value) => {
              const provider = providers.find((name) => name === value);
              if (provider) onChange({ provider });
            }}
          />
          {behind.provider === 'custom'
            ? text('providerUrl', 'Address of the provider', 'The path of the format is appended to it')
            : null}
          <Text size="sm" c="dimmed">
            The key of the provider stays on that machine: in its usual variable there, as <code>OPENAI_API_KEY</code>,
            or in <code>PROVIDER_KEY</code>.
          </Text>
        </>
      );
    case 'tools':
      return (
        <>
          {text('toolsFolder', 'Folder of tools', 'TypeScript files with one tool each; none if empty', false)}
          {text('mcpFile', 'File of MCP servers', 'In the form {"mcpServers": {…}}; none if empty', false)}
        </>
      );
  }
}
