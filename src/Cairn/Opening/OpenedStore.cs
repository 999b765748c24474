using Cairn.Engine;

namespace Cairn.Opening;

/// <summary>A store that was opened: its engine, the options with the full path, and what the user should know.</summary>
internal sealed record OpenedStore(StoreEngine Engine, StoreOptions Options, IReadOnlyList<string> Warnings);
