using System.Diagnostics;
using Cairn.Simulation.Scheduling;

namespace Cairn.Simulation.Rewriting;

// The tasks are the product's, and the only thread never waits for them. A method is named as what it replaces.
#pragma warning disable VSTHRD002, VSTHRD003, VSTHRD100, CA1024

/// <summary>
/// Takes the place of the runtime's time, threads and random numbers in the rewritten product. The name of a method is that of the replaced member;
/// <see cref="HookTable"/> says which is which. Everything belongs to the machine whose work runs at this moment.
/// </summary>
public static class Hooks
{
    public static TimeProvider SystemClock() => MachineClock.Instance;

    public static TaskScheduler DefaultScheduler() => MachineTaskScheduler.Instance;

    public static long TickCount64() => World.Current.Here.MonotonicMs;

    public static long GetTimestamp() => World.Current.Here.Monotonic * (Stopwatch.Frequency / TimeSpan.TicksPerSecond);

    public static TimeSpan GetElapsedTime(long startedAt) => Stopwatch.GetElapsedTime(startedAt, GetTimestamp());

    public static int ProcessorCount() => 2;

    public static string MachineName() => World.Current.Here.Name;

    public static Random SharedRandom() => MachineRandom.Instance;

    public static Guid NewGuid()
    {
        Span<byte> bytes = stackalloc byte[16];
        Fill(bytes);
        return new Guid(bytes);
    }

    public static void Fill(Span<byte> bytes) => World.Current.Here.Random.Fill(bytes);

    public static void Fill(byte[] bytes) => World.Current.Here.Random.Fill(bytes);

    public static byte[] GetBytes(int count)
    {
        byte[] bytes = new byte[count];
        Fill(bytes);
        return bytes;
    }

    public static Task Run(Func<Task> work) => Run(work, CancellationToken.None);

    public static Task Run(Func<Task> work, CancellationToken cancellationToken) =>
        Task.Factory.StartNew(work, cancellationToken, TaskCreationOptions.DenyChildAttach, MachineTaskScheduler.Instance).Unwrap();

    public static Task<T> Run<T>(Func<Task<T>> work, CancellationToken cancellationToken) =>
        Task.Factory.StartNew(work, cancellationToken, TaskCreationOptions.DenyChildAttach, MachineTaskScheduler.Instance).Unwrap();

    public static Task Delay(TimeSpan time) => Task.Delay(time, MachineClock.Instance);

    public static Task Delay(TimeSpan time, CancellationToken cancellationToken) => Task.Delay(time, MachineClock.Instance, cancellationToken);

    // The runtime's own waits leave the machine: a source that continues asynchronously ends them on a thread of the pool.
    public static Task WaitAsync(Task task, CancellationToken cancellationToken) => WaitAsync(task, Timeout.InfiniteTimeSpan, cancellationToken);

    public static Task WaitAsync(Task task, TimeSpan time) => WaitAsync(task, time, CancellationToken.None);

    public static Task WaitAsync(Task task, TimeSpan time, TimeProvider clock, CancellationToken cancellationToken) => WaitAsync(task, time, cancellationToken);

    public static async Task WaitAsync(Task task, TimeSpan time, CancellationToken cancellationToken)
    {
        await EndOfWaitAsync(task, time, cancellationToken);
        await task;
    }

    public static Task<T> WaitAsync<T>(Task<T> task, CancellationToken cancellationToken) => WaitAsync(task, Timeout.InfiniteTimeSpan, cancellationToken);

    public static Task<T> WaitAsync<T>(Task<T> task, TimeSpan time) => WaitAsync(task, time, CancellationToken.None);

    public static Task<T> WaitAsync<T>(Task<T> task, TimeSpan time, TimeProvider clock, CancellationToken cancellationToken) =>
        WaitAsync(task, time, cancellationToken);

    public static async Task<T> WaitAsync<T>(Task<T> task, TimeSpan time, CancellationToken cancellationToken)
    {
        await EndOfWaitAsync(task, time, cancellationToken);
        return await task;
    }

    public static Task WhenAll(Task[] tasks) => WhenAll(tasks.AsEnumerable());

    public static async Task<T[]> WhenAll<T>(IEnumerable<Task<T>> tasks)
    {
        Task<T>[] all = [.. tasks];
        await WhenAll(all.AsEnumerable<Task>());
        return [.. all.Select(task => task.Result)];
    }

    public static async Task WhenAll(IEnumerable<Task> tasks)
    {
        Task[] all = [.. tasks];
        Exception? first = null;
        foreach (Task task in all)
        {
            try
            {
                await task;
            }
            catch (Exception failure)
            {
                first ??= failure;
            }
        }

        if (first is not null)
        {
            System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw(first);
        }
    }

    public static async Task<Task> WhenAny(Task one, Task other)
    {
        if (!one.IsCompleted && !other.IsCompleted)
        {
            var ended = new TaskCompletionSource();
            FollowAsync(one, ended);
            FollowAsync(other, ended);
            await ended.Task;
        }

        return one.IsCompleted ? one : other;
    }

    /// <summary>Runs what the machine has to do at this moment. The virtual time does not advance: what waits for more than that is late.</summary>
    public static int WaitAny(Task[] tasks, TimeSpan time)
    {
        World.Current.RunReady(() => tasks.Any(task => task.IsCompleted));
        return Array.FindIndex(tasks, task => task.IsCompleted);
    }

    public static bool QueueWorkItem(IThreadPoolWorkItem item, bool preferLocal)
    {
        World.Current.Here.Post(static item => ((IThreadPoolWorkItem)item!).Execute(), item);
        return true;
    }

    public static bool QueueWorkItem<T>(Action<T> work, T state, bool preferLocal)
    {
        World.Current.Here.Post(_ => work(state), null);
        return true;
    }

    public static Task CancelAsync(CancellationTokenSource source)
    {
        // As in the runtime, the token is cancelled when the call returns, and only its callbacks run elsewhere. Here they run at once.
        source.Cancel();
        return Task.CompletedTask;
    }

    public static void CancelAfter(CancellationTokenSource source, TimeSpan time)
    {
        ArgumentNullException.ThrowIfNull(source);
        World.Current.Here.Schedule(
            time,
            static state =>
            {
                try
                {
                    ((CancellationTokenSource)state!).Cancel();
                }
                catch (ObjectDisposedException)
                {
                    // Its owner no longer needs it.
                }
            },
            source);
    }

    /// <summary>Returns whether a broken twin is in place of a method of the product.</summary>
    public static bool IsBroken(int twin) => World.Current.Twin == twin;

    private static async Task EndOfWaitAsync(Task task, TimeSpan time, CancellationToken cancellationToken)
    {
        if (task.IsCompleted)
        {
            return;
        }

        cancellationToken.ThrowIfCancellationRequested();
        if (World.Current.Twin == Twins.WaitsWithoutLimit)
        {
            time = Timeout.InfiniteTimeSpan;
        }

        if (time == TimeSpan.Zero)
        {
            throw new TimeoutException();
        }

        var ended = new TaskCompletionSource();
        FollowAsync(task, ended);
        using ITimer? timer = time == Timeout.InfiniteTimeSpan
            ? null
            : MachineClock.Instance.CreateTimer(static source => ((TaskCompletionSource)source!).TrySetResult(), ended, time, Timeout.InfiniteTimeSpan);
        using (cancellationToken.UnsafeRegister(static source => ((TaskCompletionSource)source!).TrySetResult(), ended))
        {
            await ended.Task;
        }

        if (!task.IsCompleted)
        {
            cancellationToken.ThrowIfCancellationRequested();
            throw new TimeoutException();
        }
    }

    private static async void FollowAsync(Task task, TaskCompletionSource ended)
    {
        await ((Task)task).ConfigureAwait(ConfigureAwaitOptions.ContinueOnCapturedContext | ConfigureAwaitOptions.SuppressThrowing);
        ended.TrySetResult();
    }
}
