import { Component, type ReactNode } from 'react';
import { Failure } from '../parts/failure.tsx';

/** Catches what breaks in a page, so that the menu stays; a page of an older release, whose files are gone, among it. */
export class Boundary extends Component<{ children: ReactNode }, { error: Error | undefined }> {
  override state: { error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(thrown: unknown): { error: Error } {
    return { error: thrown instanceof Error ? thrown : new Error(String(thrown)) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <Failure
        title="This page could not be shown"
        error={new Error(`${error.message} Loading it again helps when the router was updated meanwhile.`)}
        onRetry={() => window.location.reload()}
      />
    );
  }
}
