namespace Cairn.Tests.Offline;

/// <summary>Calls an action at once, on the thread that reports.</summary>
internal sealed class ActionProgress(Action<StoreProgress> action) : IProgress<StoreProgress>
{
    public void Report(StoreProgress value) => action(value);
}

/// <summary>Collects all reports.</summary>
internal sealed class ListProgress(List<StoreProgress> told) : IProgress<StoreProgress>
{
    public void Report(StoreProgress value) => told.Add(value);
}
