using System.Runtime.CompilerServices;
using Cairn.Steps;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Interleavings;

/// <summary>Actions that run at the same time, from a state that is the same in every run.</summary>
/// <param name="FindFault">Returns the fault at the end, or <see langword="null"/> without a fault.</param>
/// <param name="Actors">The actions.</param>
internal sealed record Scene(Func<string?> FindFault, params Action[] Actors);

/// <summary>The extent of an exploration.</summary>
/// <param name="Orders">The number of orders that were run.</param>
/// <param name="Steps">The total number of their steps.</param>
/// <param name="Sleeps">The number of times that an actor slept.</param>
internal sealed record Explored(int Orders, long Steps, int Sleeps);

/// <summary>
/// Runs a scene in many orders of its actors' steps: first in all orders with a few interruptions, then in random ones. The report of a
/// fault contains the order that leads to it and the command that repeats only that order.
/// </summary>
internal sealed class Exploration
{
    private const string OrderVariable = "CAIRN_TORTURE_ORDER";

    private const int FewestOrders = 10;

    private readonly ITestOutputHelper _output;
    private readonly string _test;

    public Exploration(ITestOutputHelper output, [CallerMemberName] string test = "")
    {
        _output = output;
        _test = test;
    }

    /// <summary>Gets the maximum number of interruptions in the orders that are run exhaustively.</summary>
    public int Interruptions { get; init; } = TortureRun.Count(2, 3);

    /// <summary>Gets the number of random orders that follow.</summary>
    public int RandomOrders { get; init; } = TortureRun.Count(100, 20_000);

    /// <summary>Gets the number of priority changes in a random order.</summary>
    public int Changes { get; init; } = 4;

    /// <summary>Gets the steps at which no other actor may continue.</summary>
    public IReadOnlyList<ProtocolStep> Quiet { get; init; } = [];

    /// <summary>Gets the single order to run, if the environment names one.</summary>
    private static Order? Given { get; } =
        Environment.GetEnvironmentVariable(OrderVariable) is { Length: > 0 } text ? Order.Parse(text) : null;

    /// <summary>Runs all orders and expects no fault in any of them.</summary>
    public Explored ExpectHolds(Func<Scene> arrange)
    {
        var tally = new Tally();
        if (Given is not null)
        {
            Assert.Null(tally.Add(Run(arrange, new RecordedChooser(Given))));
            return tally.Result;
        }

        int longest = 0;
        var chooser = new ExhaustiveChooser(Interruptions);
        do
        {
            Outcome outcome = Run(arrange, chooser);
            Assert.True(tally.Add(outcome) is null, Report(outcome));
            longest = Math.Max(longest, outcome.Result.Order.Actors.Count);
        }
        while (chooser.TryAdvance());

        int orders = tally.Result.Orders;
        Assert.True(orders >= FewestOrders, $"Only {orders} orders: the actors never meet.");
        var torture = new TortureRun(_output, _test);
        int actors = arrange().Actors.Length;
        for (int i = 0; i < RandomOrders; i++)
        {
            Outcome outcome = Run(arrange, new PriorityChooser(torture.RandomFor(i), actors, Changes, longest));
            Assert.True(tally.Add(outcome) is null, outcome.Fault is null ? "" : Report(Shrink(arrange, outcome)));
        }

        _output.WriteLine(
            $"Holds in all {orders} orders with up to {Interruptions} interruptions, of up to {longest} steps, " +
            $"and in {RandomOrders} random ones.");
        return tally.Result;
    }

    /// <summary>Expects a fault in some order, and again when that order is repeated from its printed form.</summary>
    public void ExpectCaught(Func<Scene> arrange)
    {
        var chooser = new ExhaustiveChooser(Interruptions);
        for (int orders = 1; ; orders++)
        {
            Outcome outcome = Run(arrange, Given is null ? chooser : new RecordedChooser(Given));
            outcome.Result.Failure?.Throw();
            if (outcome.Fault is not null)
            {
                _output.WriteLine($"Caught in order {orders}. {Report(outcome)}");
                Outcome again = Run(arrange, new RecordedChooser(Order.Parse(outcome.Result.Order.ToString())));
                Assert.Equal(outcome.Fault, again.Fault);
                Assert.Equal(outcome.Result.Story, again.Result.Story);
                return;
            }

            Assert.True(Given is null && chooser.TryAdvance(), $"Not caught in {orders} orders.");
        }
    }

    // A random order has many interruptions that the fault does not need.
    private Outcome Shrink(Func<Scene> arrange, Outcome outcome)
    {
        Order smallest = FailingRun.Shrink(outcome.Result.Order, order => order.WithFewerSwitches(), (candidate, order) =>
        {
            Outcome smaller = Run(arrange, new FollowingChooser(candidate));
            return smaller.Fault is not null && smaller.Result.Order.Switches < order.Switches ? smaller.Result.Order : null;
        });
        return Run(arrange, new RecordedChooser(smallest));
    }

    private string Report(Outcome outcome) => FailingRun.Describe(
        outcome.Fault, $"Again: {OrderVariable}={outcome.Result.Order} ./test torture --filter {_test}", run: "", outcome.Result.Story.TrimStart('\n'));

    private Outcome Run(Func<Scene> arrange, IChooser chooser)
    {
        Scene scene = arrange();
        ScheduleResult result = Schedule.Run(chooser, Quiet, scene.Actors);
        string? fault = result.Failure?.SourceException.ToString()
            ?? (result.IsStuck ? "A thread sleeps, and no other thread is left to wake it." : null)
            ?? scene.FindFault();
        return new Outcome(result, fault);
    }

    private sealed record Outcome(ScheduleResult Result, string? Fault);

    private sealed class Tally
    {
        public Explored Result { get; private set; } = new(0, 0, 0);

        /// <summary>Counts a run and returns its fault.</summary>
        public string? Add(Outcome outcome)
        {
            Result = new Explored(
                Result.Orders + 1, Result.Steps + outcome.Result.Order.Actors.Count, Result.Sleeps + outcome.Result.Sleeps);
            return outcome.Fault;
        }
    }
}
