using BenchmarkDotNet.Running;
using Cairn.Microbenchmarks;

if (args is [ExpiryMeasurement.Command, ..])
{
    return ExpiryMeasurement.Run(args.ElementAtOrDefault(1));
}

BenchmarkSwitcher.FromAssembly(typeof(Program).Assembly).Run(args);
return 0;
