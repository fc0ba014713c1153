import { Button, Group, Text } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { Failure } from '../parts/failure.tsx';
import { resetFailedCode } from '../parts/lazy-code.tsx';

export interface ErrorBoundaryProps {
  /** The URL that the content belongs to. At another URL the content is rendered again. */
  url: string;
  children: ReactNode;
}

interface State {
  error: Error | undefined;
  url: string;
}

/** Keeps the menu visible when a page fails to load or render, for instance because a newer release has replaced its files. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, State> {
  override state: State = { error: undefined, url: this.props.url };

  static getDerivedStateFromProps({ url }: ErrorBoundaryProps, state: State): State | null {
    return state.url === url ? null : { error: undefined, url };
  }

  static getDerivedStateFromError(thrown: unknown): Pick<State, 'error'> {
    return { error: thrown instanceof Error ? thrown : new Error(String(thrown)) };
  }

  override componentDidCatch(): void {
    resetFailedCode();
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <Failure title="This page could not be shown" error={error} onRetry={() => this.setState({ error: undefined })}>
        <Group mt="xs">
          <Text size="sm">If the router was updated or restarted, load the console again.</Text>
          <Button size="xs" variant="default" onClick={() => window.location.reload()}>
            Reload
          </Button>
        </Group>
      </Failure>
    );
  }
}
