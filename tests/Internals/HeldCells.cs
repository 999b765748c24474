namespace Cairn.Testing;

/// <summary>Holds every hazard cell of one opening of a store.</summary>
internal sealed class HeldCells : IDisposable
{
    private readonly CairnStore _store;
    private readonly Stack<int> _cells = new();

    public HeldCells(CairnStore store)
    {
        _store = store;
        while (store.Engine.Owners.TryTakeHazardCell(isLasting: false, out int cell))
        {
            _cells.Push(cell);
        }
    }

    /// <summary>Releases one cell.</summary>
    public void ReleaseOne() => _store.Engine.Owners.ReturnHazardCell(_cells.Pop());

    public void Dispose()
    {
        while (_cells.Count > 0)
        {
            ReleaseOne();
        }
    }
}
