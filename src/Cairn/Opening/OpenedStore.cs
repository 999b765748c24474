using Cairn.Engine;
using Cairn.Snapshots;

namespace Cairn.Opening;

/// <summary>An opened store: its engine, its options with the full path, the warnings for the user, and its checkpointer.</summary>
internal sealed record OpenedStore(StoreEngine Engine, StoreOptions Options, IReadOnlyList<string> Warnings, Checkpointer Checkpointer)
{
    /// <summary>Gets whether this opening created the file.</summary>
    public bool IsNew { get; init; }
}
