using System.Runtime.ExceptionServices;
using Cairn.Caching.Coherence;
using Cairn.Caching.Local;
using Cairn.Caching.Tagging;

namespace Cairn.Caching.Flights;

/// <summary>The making of a value of one type, and how it ended.</summary>
internal sealed class ValueFlight<T>(string key, ulong hash, int purpose) : JoinableFlight(key, hash, purpose)
{
    // Null, then the TaskCompletionSource of those who wait if there are any, and Task.CompletedTask once it has ended.
    private object? _ended;
    private T? _value;

    // How it ended: what makes the value of each who joined; an ExceptionDispatchInfo if it failed; null if all may have the same value.
    private object? _copyOrFault;
    private LocalEntry? _stale;

    /// <summary>The expired entry that who cannot wait may have; null as long as none is known.</summary>
    public LocalEntry? Stale
    {
        get => Volatile.Read(ref _stale);
        set => Volatile.Write(ref _stale, value);
    }

    /// <summary>Where the changes of the key stood before <see cref="Stale"/> was looked for.</summary>
    public ChangeMark Before { get; init; }

    /// <summary>The tags of what it made, before it ends: who joined late looks whether they still stand.</summary>
    public TagStamps? Tags { get; set; }

    // Acquire; pairs with the exchange in End. The outcome is read after.
    public override bool HasEnded => ReferenceEquals(Volatile.Read(ref _ended), Task.CompletedTask);

    public bool HasEndedWell => HasEnded && _copyOrFault is not ExceptionDispatchInfo;

    /// <summary>Completes when it has ended, and never faults: <see cref="GetResult"/> tells how.</summary>
    public Task Ended
    {
        get
        {
            object? ended = Volatile.Read(ref _ended);
            if (ended is null)
            {
                var source = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                ended = Interlocked.CompareExchange(ref _ended, source, null) ?? source;
            }

            return ended is TaskCompletionSource waiting ? waiting.Task : Task.CompletedTask;
        }
    }

    /// <summary>It has ended well.</summary>
    /// <param name="value">For the one who began it.</param>
    /// <param name="copy">Makes the value of each who joined; null if all may have the same.</param>
    public void Succeed(T value, Func<T>? copy = null)
    {
        _value = value;
        _copyOrFault = copy;
        End();
    }

    public void Fail(Exception fault)
    {
        _copyOrFault = ExceptionDispatchInfo.Capture(fault);
        End();
    }

    /// <summary>The value, once it has ended. Throws what the factory threw.</summary>
    public T GetResult(bool isOwner)
    {
        (_copyOrFault as ExceptionDispatchInfo)?.Throw();
        return isOwner || _copyOrFault is not Func<T> copy ? _value! : copy();
    }

    /// <summary>How it ended for the one who began it, as a task: a fault is for who awaits, also if the factory did not wait before it.</summary>
    public ValueTask<T> OutcomeAsync() => _copyOrFault is ExceptionDispatchInfo fault
        ? ValueTask.FromException<T>(fault.SourceException)
        : new ValueTask<T>(_value!);

    private void End()
    {
        // A full fence: the outcome is seen by whoever sees that it has ended. Who asks for a source later finds it ended.
        (Interlocked.Exchange(ref _ended, Task.CompletedTask) as TaskCompletionSource)?.SetResult();
    }
}
