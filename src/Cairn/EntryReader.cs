namespace Cairn;

/// <summary>Reads a value in place.</summary>
/// <typeparam name="TState">What the caller passes along, so that the reader need not capture it.</typeparam>
/// <param name="value">The value's bytes, in the store's own memory; valid only during the call.</param>
/// <param name="info">What else is known of the entry.</param>
/// <param name="state">What the caller passed along.</param>
public delegate void EntryReader<in TState>(ReadOnlySpan<byte> value, EntryInfo info, TState state)
    where TState : allows ref struct;
