using System.Runtime.ExceptionServices;
using Cairn.Caching.Coherence;
using Cairn.Caching.Local;
using Cairn.Caching.Tagging;

namespace Cairn.Caching.Flights;

/// <summary>The creation of a value of one type, and its outcome.</summary>
internal sealed class ValueFlight<T>(string key, ulong hash, int purpose) : JoinableFlight(key, hash, purpose)
{
    // Null at first; then the TaskCompletionSource of the waiting callers, if there are any; Task.CompletedTask once the flight has ended.
    private object? _ended;
    private T? _value;

    // The outcome: the function that creates a joined caller's copy, an ExceptionDispatchInfo after a failure, or null if all callers may
    // share the value.
    private object? _copyOrFault;
    private LocalEntry? _stale;

    /// <summary>The expired entry for callers that cannot wait; null as long as none is known.</summary>
    public LocalEntry? Stale
    {
        get => Volatile.Read(ref _stale);
        set => Volatile.Write(ref _stale, value);
    }

    /// <summary>The position of the key's changes before <see cref="Stale"/> was searched.</summary>
    public ChangeMark Before { get; init; }

    /// <summary>The tags of the value, set before the flight ends: a caller that joined late checks whether they are still current.</summary>
    public TagStamps? Tags { get; set; }

    // Acquire; pairs with the exchange in End. The outcome is read afterwards.
    public override bool HasEnded => ReferenceEquals(Volatile.Read(ref _ended), Task.CompletedTask);

    public bool HasEndedWell => HasEnded && _copyOrFault is not ExceptionDispatchInfo;

    /// <summary>Completes when the flight has ended, and never faults: <see cref="GetResult"/> returns or throws the outcome.</summary>
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

    /// <summary>Ends the flight with a value.</summary>
    /// <param name="value">The value for the caller that began the flight.</param>
    /// <param name="copy">The function that creates the value of each joined caller; null if all may share the value.</param>
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

    /// <summary>Returns the value after the flight has ended. Throws the exception of the factory.</summary>
    public T GetResult(bool isOwner)
    {
        (_copyOrFault as ExceptionDispatchInfo)?.Throw();
        return isOwner || _copyOrFault is not Func<T> copy ? _value! : copy();
    }

    /// <summary>Returns the outcome for the caller that began the flight, as a task: a fault is thrown only when it is awaited.</summary>
    public ValueTask<T> OutcomeAsync() => _copyOrFault is ExceptionDispatchInfo fault
        ? ValueTask.FromException<T>(fault.SourceException)
        : new ValueTask<T>(_value!);

    private void End()
    {
        // Full fence: a thread that sees the end sees the outcome. A thread that adds a source later sees the end.
        (Interlocked.Exchange(ref _ended, Task.CompletedTask) as TaskCompletionSource)?.SetResult();
    }
}
