using Xunit.Abstractions;

namespace Cairn.TortureTests.Interleavings;

/// <summary>Tests the scheduler itself: it runs each order once, finds the faulty one, and repeats it.</summary>
public sealed class ExplorationTests(ITestOutputHelper output)
{
    [Fact]
    public void Every_order_is_run_once()
    {
        var orders = new List<string>();
        var chooser = new ExhaustiveChooser(interruptions: 2);

        do
        {
            orders.Add(Schedule.Run(chooser, [], [TwoSteps, TwoSteps]).Order.ToString());
        }
        while (chooser.TryAdvance());

        // Each actor has three turns: before, between and after its two steps. Only an actor that could have continued counts as interrupted.
        Assert.Equal(
            ["a1b1a2b2", "a1b2a2b1", "a1b3a2", "a2b1a1b2", "a2b2a1b1", "a2b3a1", "a3b3"],
            orders.Where(order => order[0] == 'a').Order(StringComparer.Ordinal));
        Assert.Equal(14, orders.Distinct(StringComparer.Ordinal).Count());
        Assert.Equal(14, orders.Count);
    }

    [Fact]
    public void Order_is_read_as_it_is_written()
    {
        var order = Order.Parse("a3b12a1");

        Assert.Equal(16, order.Actors.Count);
        Assert.Equal("a3b12a1", order.ToString());
        Assert.Throws<FormatException>(() => Order.Parse("3a"));
        Assert.Throws<FormatException>(() => Order.Parse("a3b"));
    }

    [Fact]
    public void Order_that_does_not_fit_is_refused()
    {
        var chooser = new RecordedChooser(Order.Parse("a4b3"));

        var error = Assert.Throws<InvalidOperationException>(() => Schedule.Run(chooser, [], [TwoSteps, TwoSteps]));

        Assert.Contains("does not fit", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Counter_that_is_not_atomic_is_caught() => new Exploration(output).ExpectCaught(() =>
    {
        int counter = 0;
        return new Scene(() => counter == 2 ? null : $"Two additions make {counter}.", Add, Add);

        void Add()
        {
            int before = counter;
            Schedule.Step();
            counter = before + 1;
        }
    });

    [Fact]
    public void Counter_that_is_atomic_holds() => new Exploration(output).ExpectHolds(() =>
    {
        int counter = 0;
        return new Scene(() => counter == 2 ? null : $"Two additions make {counter}.", Add, Add);

        void Add()
        {
            Schedule.Step();
            counter++;
            Schedule.Step();
        }
    });

    [Fact]
    public void Failure_of_an_actor_is_reported_with_the_order_that_repeats_it()
    {
        var error = Assert.ThrowsAny<Xunit.Sdk.XunitException>(() => new Exploration(output).ExpectHolds(() =>
        {
            bool isOver = false;
            return new Scene(
                () => null,
                () => isOver = true,
                () =>
                {
                    Schedule.Step();
                    Assert.True(isOver, "too early");
                });
        }));

        Assert.Contains("too early", error.Message, StringComparison.Ordinal);
        Assert.Contains(
            $"CAIRN_TORTURE_ORDER=b2a1 ./test torture --filter {nameof(Failure_of_an_actor_is_reported_with_the_order_that_repeats_it)}",
            error.Message,
            StringComparison.Ordinal);
    }

    // Both additions are lost only if the first actor is interrupted twice, which no order with one interruption shows.
    [Fact]
    public void Fault_in_a_random_order_is_reported_in_an_order_with_the_fewest_interruptions()
    {
        var error = Assert.ThrowsAny<Xunit.Sdk.XunitException>(() => new Exploration(output) { Interruptions = 1, RandomOrders = 2_000, Changes = 12 }.ExpectHolds(() =>
        {
            int first = 0;
            int second = 0;
            return new Scene(() => first == 1 && second == 1 ? "Both additions are lost." : null, Add, Add);

            void Add()
            {
                for (int i = 0; i < 5; i++)
                {
                    Schedule.Step();
                }

                int before = first;
                Schedule.Step();
                first = before + 1;
                Schedule.Step();
                before = second;
                Schedule.Step();
                second = before + 1;
                for (int i = 0; i < 5; i++)
                {
                    Schedule.Step();
                }
            }
        }));

        string order = error.Message[error.Message.IndexOf("CAIRN_TORTURE_ORDER=", StringComparison.Ordinal)..].Split('=', ' ')[1];
        Assert.InRange(Order.Parse(order).Switches, 2, 4);
    }

    private static void TwoSteps()
    {
        Schedule.Step();
        Schedule.Step();
    }
}
