using System.Runtime.ExceptionServices;
using System.Text;
using Cairn.Steps;

namespace Cairn.TortureTests.Interleavings;

/// <summary>The result of one run of a schedule.</summary>
/// <param name="Order">The order of its steps, which repeats the run.</param>
/// <param name="Story">The same order in words: the protocol step after which each actor continued.</param>
/// <param name="Sleeps">The number of times that an actor slept.</param>
/// <param name="IsStuck">Whether the schedule ended the run because all remaining actors slept.</param>
/// <param name="Failure">The exception of the first actor that failed.</param>
internal sealed record ScheduleResult(Order Order, string Story, int Sleeps, bool IsStuck, ExceptionDispatchInfo? Failure);

// Runs several actors, each on its own thread, in an order that a chooser decides. Exactly one actor runs at a time, from one protocol step
// to its next. A run is repeated by repeating its choices.
//
//   I1  Between two steps an actor runs alone. Everything that it does there is one indivisible action of the schedule.
//   I2  Time stands still: an actor that sleeps on an address (ScheduledPlatform) continues when another actor wakes it, and never because
//       of a time-out. If all remaining actors sleep, the schedule is stuck and ends.
//
// A schedule shows what happens when steps alternate and each step is visible to all actors before the next. The models in docs/models cover
// processors that delay stores.
internal sealed unsafe class Schedule : IDisposable
{
    private const int MostSteps = 100_000;
    private static readonly TimeSpan LongestRun = TimeSpan.FromMinutes(2);

    [ThreadStatic]
    private static Actor? t_actor;

    private readonly IChooser _chooser;
    private readonly IReadOnlyList<ProtocolStep> _quiet;
    private readonly Actor[] _actors;
    private readonly ManualResetEventSlim _isOver = new();
    private readonly List<(int Actor, ProtocolStep From)> _steps = [];
    private int _current = -1;
    private int _sleeps;
    private bool _isStuck;
    private Exception? _error;

    static Schedule() => ProtocolHook.Handler = step => t_actor?.Reach(step);

    private Schedule(IChooser chooser, IReadOnlyList<ProtocolStep> quiet, IReadOnlyList<Action> actors)
    {
        _chooser = chooser;
        _quiet = quiet;
        _actors = [.. actors.Select((action, number) => new Actor(this, number, action))];
    }

    /// <summary>Gets whether this thread runs one of a schedule's actors.</summary>
    public static bool IsActor => t_actor is not null;

    /// <summary>Runs the actors until they end.</summary>
    /// <param name="chooser">Decides the order.</param>
    /// <param name="quiet">The steps at which no other actor may continue, because there are too many of them.</param>
    /// <param name="actors">The actions that run at the same time.</param>
    /// <exception cref="InvalidOperationException">The schedule does not end, or the chooser's order does not fit.</exception>
    public static ScheduleResult Run(IChooser chooser, IReadOnlyList<ProtocolStep> quiet, IReadOnlyList<Action> actors)
    {
        using var schedule = new Schedule(chooser, quiet, actors);
        return schedule.Run();
    }

    /// <summary>Marks a step of a test's own actor. Another actor can continue there.</summary>
    public static void Step() => t_actor?.Reach(ProtocolStep.None);

    /// <summary>Sleeps, as the actor of this thread, until another actor wakes it. Returns at once if the word is not as expected.</summary>
    public static void Sleep(uint* address, uint expected)
    {
        Step();
        if (Volatile.Read(ref *address) == expected)
        {
            t_actor!.Sleep(BedOf(address));
        }
    }

    /// <summary>Wakes the actors that sleep on an address.</summary>
    public static void Wake(uint* address)
    {
        Step();
        t_actor!.Wake(BedOf(address));
    }

    public void Dispose()
    {
        foreach (Actor actor in _actors)
        {
            actor.Dispose();
        }

        _isOver.Dispose();
    }

    private bool IsStopping => _isStuck || _error is not null;

    private ScheduleResult Run()
    {
        foreach (Actor actor in _actors)
        {
            actor.Start();
        }

        Next().Go();
        if (!_isOver.Wait(LongestRun))
        {
            throw new TimeoutException($"The schedule stands still. {Story()}");
        }

        if (_error is not null)
        {
            throw _error;
        }

        return new ScheduleResult(
            new Order([.. _steps.Select(step => step.Actor)]), Story(), _sleeps, _isStuck,
            _isStuck ? null : _actors.FirstOrDefault(actor => actor.Failure is not null)?.Failure);
    }

    private Actor Next()
    {
        int[] ready = [.. _actors.Where(actor => actor.IsReady).Select(actor => actor.Number)];
        _isStuck |= ready.Length == 0;
        if (!IsStopping)
        {
            try
            {
                _current = _steps.Count < MostSteps
                    ? _chooser.Choose(_steps.Count, _current, ready)
                    : throw new InvalidOperationException($"The schedule has no end: {MostSteps} steps. {Story()}");
                _steps.Add((_current, _actors[_current].At));
                return _actors[_current];
            }
            catch (Exception error)
            {
                // Runs on an actor's thread, which must pass its turn to another actor before it ends.
                _error = error;
            }
        }

        // Ends the actors one after the other.
        return Array.Find(_actors, actor => !actor.IsOver)!;
    }

    // Each opening has its own mapping. The offset of a word in its page is the same in all of them.
    private static nuint BedOf(uint* address) => ((nuint)address % (nuint)ScheduledPlatform.Instance.PageSize) + 1;

    private string Story()
    {
        const int LongestStory = 200;
        var story = new StringBuilder();
        int last = -1;
        foreach ((int actor, ProtocolStep from) in _steps.Take(LongestStory))
        {
            story.Append(actor == last ? ", " : $"\n  {Order.NameOf(actor)} goes on after ");
            story.Append(from == ProtocolStep.None ? "-" : from.ToString());
            last = actor;
        }

        return story.Append(_steps.Count > LongestStory ? ", ..." : "").ToString();
    }

    private sealed class Actor : IDisposable
    {
        private readonly Schedule _schedule;
        private readonly Action _action;
        private readonly ManualResetEventSlim _turn = new(initialState: false, spinCount: 0);
        private nuint _bed;

        public Actor(Schedule schedule, int number, Action action)
        {
            _schedule = schedule;
            _action = action;
            Number = number;
        }

        public int Number { get; }

        /// <summary>Gets the step that the actor has reached.</summary>
        public ProtocolStep At { get; private set; }

        public bool IsOver { get; private set; }

        public bool IsReady => !IsOver && _bed == 0;

        public ExceptionDispatchInfo? Failure { get; private set; }

        public void Start() => ActorThread.Run(Act);

        public void Go() => _turn.Set();

        public void Dispose() => _turn.Dispose();

        /// <summary>Passes the turn to the chosen actor and waits for the next turn. Called on the actor's own thread.</summary>
        public void Reach(ProtocolStep step)
        {
            if (_schedule._quiet.Contains(step))
            {
                return;
            }

            At = step;
            Actor next = _schedule.Next();
            if (next != this)
            {
                next.Go();
                AwaitTurn();
            }

            if (_schedule.IsStopping)
            {
                throw new OperationCanceledException();
            }
        }

        public void Sleep(nuint bed)
        {
            _schedule._sleeps++;
            _bed = bed;
            Reach(ProtocolStep.None);
        }

        public void Wake(nuint bed)
        {
            foreach (Actor sleeper in _schedule._actors.Where(actor => actor._bed == bed))
            {
                sleeper._bed = 0;
            }
        }

        private void AwaitTurn()
        {
            _turn.Wait();
            _turn.Reset();
        }

        private void Act()
        {
            AwaitTurn();
            t_actor = this;
            try
            {
                _action();
            }
            catch (Exception failure)
            {
                Failure = ExceptionDispatchInfo.Capture(failure);
            }

            t_actor = null;
            IsOver = true;
            if (Array.TrueForAll(_schedule._actors, actor => actor.IsOver))
            {
                _schedule._isOver.Set();
            }
            else
            {
                _schedule.Next().Go();
            }
        }
    }
}
