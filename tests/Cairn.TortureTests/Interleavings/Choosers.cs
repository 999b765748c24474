namespace Cairn.TortureTests.Interleavings;

/// <summary>Chooses the actor of a schedule that takes the next step.</summary>
internal interface IChooser
{
    /// <summary>Returns one of the actors that can continue.</summary>
    /// <param name="step">The number of steps so far.</param>
    /// <param name="current">The number of the actor that took the last step.</param>
    /// <param name="ready">The numbers of the actors that can continue, ascending; at least one.</param>
    int Choose(int step, int current, IReadOnlyList<int> ready);
}

/// <summary>
/// Chooses the ready actor with the highest priority. At a few random steps, the actor that would continue gets the lowest priority. This finds
/// errors that need one actor to be far ahead of another. In a uniform random walk that rarely happens. Burckhardt, Kothari, Musuvathi and
/// Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010.
/// </summary>
internal sealed class PriorityChooser : IChooser
{
    private readonly int[] _priorities;
    private readonly HashSet<int> _changes;
    private int _lowest;

    public PriorityChooser(Random random, int actors, int changes, int steps)
    {
        _priorities = [.. Enumerable.Range(1, actors)];
        random.Shuffle(_priorities);
        _changes = [.. Enumerable.Range(0, changes).Select(_ => random.Next(steps))];
    }

    public int Choose(int step, int current, IReadOnlyList<int> ready)
    {
        int best = ready.MaxBy(actor => _priorities[actor]);
        if (_changes.Contains(step))
        {
            _priorities[best] = --_lowest;
            best = ready.MaxBy(actor => _priorities[actor]);
        }

        return best;
    }
}

/// <summary>
/// Enumerates, one per run, all orders with a limited number of interruptions of an actor that could have continued. Nearly all concurrency
/// errors need two or three interruptions (Musuvathi and Qadeer, "Iterative Context Bounding for Systematic Testing of Multithreaded
/// Programs", PLDI 2007). All orders without this limit are too many.
/// </summary>
internal sealed class ExhaustiveChooser(int interruptions) : IChooser
{
    private readonly List<(int Chosen, int Count)> _decisions = [];
    private int _next;
    private int _interruptions;

    public int Choose(int step, int current, IReadOnlyList<int> ready)
    {
        bool isInterruption = ready.Contains(current);
        if (ready.Count == 1 || (isInterruption && _interruptions == interruptions))
        {
            return isInterruption ? current : ready[0];
        }

        if (_next == _decisions.Count)
        {
            _decisions.Add((0, ready.Count));
        }

        // The first choice continues with the current actor.
        int[] choices = isInterruption ? [current, .. ready.Where(actor => actor != current)] : [.. ready];
        int chosen = choices[_decisions[_next++].Chosen];
        _interruptions += isInterruption && chosen != current ? 1 : 0;
        return chosen;
    }

    /// <summary>Advances to the next order. Returns false if there is none.</summary>
    public bool TryAdvance()
    {
        _next = 0;
        _interruptions = 0;
        while (_decisions.Count > 0)
        {
            (int chosen, int count) = _decisions[^1];
            _decisions.RemoveAt(_decisions.Count - 1);
            if (chosen + 1 < count)
            {
                _decisions.Add((chosen + 1, count));
                return true;
            }
        }

        return false;
    }
}

/// <summary>Repeats a recorded order. After its end, it chooses the first actor that can continue.</summary>
internal sealed class RecordedChooser(Order order) : IChooser
{
    public int Choose(int step, int current, IReadOnlyList<int> ready)
    {
        int chosen = step < order.Actors.Count ? order.Actors[step] : ready[0];
        return ready.Contains(chosen)
            ? chosen
            : throw new InvalidOperationException(
                $"The order {order} does not fit: at step {step}, {Order.NameOf(chosen)} is over or asleep. " +
                "It belongs to another test, or to other code.");
    }
}

/// <summary>Follows an order as far as it fits. Where it does not, the current actor continues if it can.</summary>
internal sealed class FollowingChooser(Order order) : IChooser
{
    public int Choose(int step, int current, IReadOnlyList<int> ready)
    {
        int chosen = step < order.Actors.Count ? order.Actors[step] : current;
        return ready.Contains(chosen) ? chosen : ready.Contains(current) ? current : ready[0];
    }
}
