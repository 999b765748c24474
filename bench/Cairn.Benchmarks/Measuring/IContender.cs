namespace Cairn.Benchmarks.Measuring;

/// <summary>Performs the work of a case and measures its cost. The product is one contender; each peer is another.</summary>
internal interface IContender : IDisposable
{
    string Name { get; }

    /// <summary>Runs the work once without measuring it. Called until the compiler has nothing left to improve.</summary>
    void WarmUp();

    /// <summary>Measures one round. Rounds are numbered from 0, so that contenders can share the result of one external run.</summary>
    Sample Measure(int round);
}
