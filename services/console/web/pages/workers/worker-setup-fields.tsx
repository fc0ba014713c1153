import { Select, Text, TextInput } from '@mantine/core';
import { cliKinds, providerNames, type WorkerSetup } from './join-command.ts';

export interface WorkerSetupFieldsProps {
  setup: WorkerSetup;
  onChange: (changed: Partial<WorkerSetup>) => void;
}

/** The fields for the engine, command-line agent, provider or tools of a worker, by its tier. */
export function WorkerSetupFields({ setup, onChange }: WorkerSetupFieldsProps) {
  const renderText = (name: keyof WorkerSetup, label: string, description: string, required = true) => (
    <TextInput
      label={label}
      description={description}
      required={required}
      value={setup[name]}
      onChange={({ currentTarget }) => onChange({ [name]: currentTarget.value })}
    />
  );
  switch (setup.tier) {
    case 'gpu':
      return renderText(
        'engineUrl',
        'Address of the engine',
        'The address at which that machine reaches the engine: vLLM, SGLang, llama.cpp, Ollama, LM Studio, or any other engine with an OpenAI-compatible API',
      );
    case 'cli':
      return (
        <>
          <Select
            label="Command-line agent"
            description="Installed on that machine, and signed in"
            data={[...cliKinds]}
            value={setup.cli}
            allowDeselect={false}
            onChange={(value) => {
              const cli = cliKinds.find((kind) => kind === value);
              if (cli) onChange({ cli });
            }}
          />
          {setup.cli === 'command'
            ? renderText('cliCommand', 'Command', 'A program with its arguments, in which {model} stands for the model')
            : null}
          {renderText('cliModels', 'Models', 'By the names that the agent gives them, separated by commas')}
        </>
      );
    case 'cloud':
      return (
        <>
          <Select
            label="Provider"
            data={[...providerNames]}
            value={setup.provider}
            allowDeselect={false}
            searchable
            onChange={(value) => {
              const provider = providerNames.find((name) => name === value);
              if (provider) onChange({ provider });
            }}
          />
          {setup.provider === 'custom'
            ? renderText('providerUrl', 'Address of the provider', 'The path of the format is appended to this address')
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
          {renderText('toolsFolder', 'Folder of tools', 'TypeScript files with one tool each; none if empty', false)}
          {renderText('mcpFile', 'File of MCP servers', 'In the form {"mcpServers": {…}}; none if empty', false)}
        </>
      );
  }
}
