namespace Cairn.Tests.Maps;

/// <summary>A map in memory passes every test of a map in a file.</summary>
public sealed class InMemoryMapTests : PersistentMapTests
{
    private PersistentMap<int, int>? _map;

    private protected override CairnStore MapStore =>
        (_map ??= PersistentMap.OpenInMemory<int, int>(capacityBytes: StoreDirectory.SmallCapacityBytes, timeProvider: Clock)).Store;

    private protected override void DisposeMore() => _map?.Dispose();
}
