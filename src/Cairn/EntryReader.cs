namespace Cairn;

/// <summary>Reads a value in place.</summary>
/// <typeparam name="TState">The type of the argument that the caller passes, so that the reader needs no closure.</typeparam>
/// <param name="value">The value's bytes, in the store's own memory. They are valid only during the call.</param>
/// <param name="info">The entry's information.</param>
/// <param name="state">The argument that the caller passed.</param>
public delegate void EntryReader<in TState>(ReadOnlySpan<byte> value, EntryInfo info, TState state)
    where TState : allows ref struct;
