namespace Cairn.Testing;

/// <summary>
/// Runs a part of a test on a thread of its own, so that blocking does not starve the thread pool. Awaiting the task reports a failure to the test.
/// </summary>
internal static class OwnThread
{
    public static Task Run(Action action) =>
        Task.Factory.StartNew(
            action, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);

    public static Task<T> Run<T>(Func<T> function) =>
        Task.Factory.StartNew(
            function, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
}
