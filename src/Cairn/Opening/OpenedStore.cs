using Cairn.Engine;
using Cairn.Snapshots;

namespace Cairn.Opening;

/// <summary>A store that was opened: its engine, the options with the full path, what the user should know, and who makes its snapshots.</summary>
internal sealed record OpenedStore(StoreEngine Engine, StoreOptions Options, IReadOnlyList<string> Warnings, Checkpointer Checkpointer);
