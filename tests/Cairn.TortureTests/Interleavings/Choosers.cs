namespace Cairn.TortureTests.Interleavings;

/// <summary>Decides who of a schedule's actors takes the next step.</summary>
internal interface IChooser
{
    /// <summary>One of the actors that can go on.</summary>
    /// <param name="step">How many steps were taken before.</param>
    /// <param name="current">Number of the one that took the last step.</param>
    /// <param name="ready">Numbers of those that can go on, ascending; at least one.</param>
    int Choose(int step, int current, IReadOnlyList<int> ready);
}

/// <summary>
/// The ready actor of the highest priority goes on; at a few random steps the one that was about to falls behind all others. Finds what
/// needs one actor to be far ahead of another, which a walk of coin tosses hardly ever is (Burckhardt, Kothari, Musuvathi
/// and Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010).
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
/// Every order with up to so many interruptions of an actor that could have gone on, one run after the other. Nearly all errors of
/// concurrency need two or three (Musuvathi and Qadeer, "Iterative Context Bounding for Systematic Testing of Multithreaded Programs",
/// PLDI 2007); all orders would be too many.
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

        // The first choice is to go on.
        int[] choices = isInterruption ? [current, .. ready.Where(actor => actor != current)] : [.. ready];
        int chosen = choices[_decisions[_next++].Chosen];
        _interruptions += isInterruption && chosen != current ? 1 : 0;
        return chosen;
    }

    /// <summary>Turns to the next order. False if there is none.</summary>
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

/// <summary>Repeats an order that was recorded. Beyond its end, the first that can go on does.</summary>
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
