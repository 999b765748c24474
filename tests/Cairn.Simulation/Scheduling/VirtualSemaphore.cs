using Cairn.Simulation.Rewriting;

namespace Cairn.Simulation.Scheduling;

/// <summary>Takes the place of <see cref="SemaphoreSlim"/>, whose waits end on the runtime's clock and threads.</summary>
public sealed class VirtualSemaphore(int initialCount, int maxCount) : IDisposable
{
    private readonly LinkedList<TaskCompletionSource<bool>> _waiters = new();
    private int _count = initialCount;
    private bool _isDisposed;

    public Task<bool> WaitAsync(TimeSpan timeout, CancellationToken cancellationToken)
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        if (cancellationToken.IsCancellationRequested)
        {
            return Task.FromCanceled<bool>(cancellationToken);
        }

        if (_count > 0)
        {
            _count--;
            return Task.FromResult(true);
        }

        // The broken twin does not wait for the time of the next heartbeat.
        return timeout == TimeSpan.Zero || (World.Current.Twin == Twins.BeatsWithoutPause && timeout < TimeSpan.FromMilliseconds(300)) ? Task.FromResult(false) : WaitLongerAsync(timeout, cancellationToken);
    }

    public int Release()
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        int before = _count;
        if (_waiters.First is { } first)
        {
            _waiters.Remove(first);
            first.Value.SetResult(true);
        }
        else if (_count == maxCount)
        {
            throw new SemaphoreFullException();
        }
        else
        {
            _count++;
        }

        return before;
    }

    public void Dispose() => _isDisposed = true;

    private async Task<bool> WaitLongerAsync(TimeSpan timeout, CancellationToken cancellationToken)
    {
        LinkedListNode<TaskCompletionSource<bool>> waiter = _waiters.AddLast(
            new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously));
        try
        {
#pragma warning disable VSTHRD003 // Release completes the task on the only thread.
            return await Hooks.WaitAsync(waiter.Value.Task, timeout, cancellationToken);
#pragma warning restore VSTHRD003
        }
        catch (Exception end) when (end is TimeoutException or OperationCanceledException)
        {
            if (waiter.List is null)
            {
                return true; // Released at the same moment.
            }

            _waiters.Remove(waiter);
            return end is TimeoutException ? false : throw new OperationCanceledException(cancellationToken);
        }
    }
}
