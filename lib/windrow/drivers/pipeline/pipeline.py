"""A pipeline opened on its lake: landings, and each stage in one of its generations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import SparkSession

from windrow.compile.stage import CompiledStage
from windrow.drivers.clock import clock_micros
from windrow.drivers.ingest.in_place.landing import LandingInPlace
from windrow.drivers.ingest.landings import AnyLanding, raw_and_landing
from windrow.drivers.pipeline.clocks import Clocks, ClocksOfSource, ClocksOfStage, InputClocks
from windrow.drivers.pipeline.compiled import compiled_stage
from windrow.drivers.pipeline.generations import OpenedGenerations
from windrow.drivers.pipeline.judged import Judgements
from windrow.drivers.pipeline.new_generation import NewGeneration
from windrow.drivers.pipeline.points import point
from windrow.drivers.pipeline.runner import StageRunner
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.spark.lakes import lake_session
from windrow.drivers.spark.session import working_session
from windrow.engine.tick.micro_batch import columns_used
from windrow.spec.fields.reading import located
from windrow.spec.pipelines.fingerprint import fingerprint_of
from windrow.spec.pipelines.loading import suite_path, suites_of
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.quality.suites import Suite
from windrow.spec.sources.source import Source
from windrow.spec.stages.stage import Stage
from windrow.store.delta.lease import Lease
from windrow.store.delta.location import Lake
from windrow.store.journal.constraints import Constraints, constraints_of
from windrow.store.journal.generations import Generations
from windrow.store.journal.journal import Journal
from windrow.store.projections.source import SourceProjections
from windrow.store.projections.tables import Projections
from windrow.store.upstream.base import Upstream
from windrow.store.upstream.inputs import InputLogs
from windrow.store.upstream.panes import StagePanes
from windrow.store.upstream.raw import Raw


@dataclass
class PipelineWork:
    """A pipeline opened on its lake."""

    spark: SparkSession
    pipeline: Pipeline
    lake: Lake
    landings: list[AnyLanding]
    raws: dict[str, Raw]
    sources: list[SourceProjections]
    stages: list[StageWork]
    suites: dict[str, Suite]
    judgements: Judgements
    clock: Callable[[], int] = clock_micros

    @classmethod
    def open(
        cls,
        pipeline: Pipeline,
        spark: SparkSession,
        from_start: bool = False,
        clock: Callable[[], int] = clock_micros,
    ) -> PipelineWork:
        """Open every stage in its generation. Errors: SpecError where one means something else now.

        A pipeline that is refused leaves nothing behind: generations are recorded when all stages are open.
        """
        suites = suites_of(pipeline)
        lake = Lake.of(pipeline.lake)
        session = lake_session(spark, lake)
        generations = Generations.of(lake)
        found = OpenedGenerations(session, lake, generations, from_start)
        rules = {name: suite.row_rules for name, suite in suites.items()}
        pairs = [raw_and_landing(session, one, lake, clock, rules.get(one.name, ())) for one in pipeline.sources]
        raws, landings = {raw.name: raw for raw, _ in pairs}, [landing for _, landing in pairs]
        for raw in raws.values():
            raw.check(session)
        stages: dict[str, StageWork] = {}
        kept = Judgements(session, lake)
        for stage in pipeline.stages:
            upstreams = pipeline.upstreams_of(stage)
            above = {name: item.runner.journal.generation for name, item in stages.items()}
            fingerprint = fingerprint_of(stage, upstreams, above)
            number = found.number(stage, upstreams, fingerprint)
            gate = NewGeneration(session, lake, suites.get(stage.name), suite_path(pipeline, stage.name), kept, clock)
            opening = _Opening(session, lake, pipeline, stage, number, gate, constraints_of(stage.name, suites))
            stages[stage.name] = opening.over(upstreams, raws, stages)
        found.record()
        sources = [SourceProjections(session, lake, raw, _after_source) for raw in raws.values()]
        return cls(session, pipeline, lake, landings, raws, sources, list(stages.values()), suites, kept, clock)

    @property
    def lease(self) -> Lease:
        """By which streams let a batch go first."""
        return Lease.of(self.spark, self.lake)

    @property
    def levels(self) -> list[list[StageWork]]:
        """The stages that read sources, those that read these, and so on."""
        depths: dict[str, int] = {}
        for item in self.stages:
            depths[item.name] = max(depths.get(name, -1) for name in item.runner.upstream.names) + 1
        most = max(depths.values(), default=-1)
        return [[item for item in self.stages if depths[item.name] == depth] for depth in range(most + 1)]

    @contextmanager
    def landing_for_stages(self) -> Iterator[None]:
        """What lands meanwhile is what the stages are about to read, and can be kept at hand for them."""
        in_place = [landing for landing in self.landings if isinstance(landing, LandingInPlace)]
        for landing in in_place:
            landing.origin.expect(self._columns_of(landing.source.name))
        try:
            yield
        finally:
            for landing in in_place:
                landing.origin.expect(None)

    def _columns_of(self, source: str) -> frozenset[str]:
        """The columns of a source that stages use."""
        read = [(stage.runner, name) for stage in self.stages for name in stage.runner.upstream.logs]
        of_source = [(runner, name) for runner, name in read if runner.upstream.logs[name].name == source]
        return frozenset().union(*(columns_used(runner.stage.of_input(name)) for runner, name in of_source))

    def upstreams_of(self, item: StageWork) -> list[StageWork]:
        """The stages that a stage reads."""
        return [other for other in self.stages if other.name in item.runner.upstream.names]


@dataclass(frozen=True)
class _Opening:
    """A stage that is opened, in one of its generations."""

    spark: SparkSession
    lake: Lake
    pipeline: Pipeline
    stage: Stage
    generation: int
    gate: NewGeneration
    constraints: Constraints

    def over(
        self, upstreams: Mapping[str, Source | Stage], raws: Mapping[str, Raw], stages: Mapping[str, StageWork]
    ) -> StageWork:
        """Over its sources and stages, by the inputs that read them."""
        logs: dict[str, Upstream] = {}
        clocks: dict[str, InputClocks] = {}
        read: dict[str, Source | CompiledStage] = {}
        for name, upstream in upstreams.items():
            if isinstance(upstream, Source):
                logs[name] = raws[upstream.name]
                clocks[name], read[name] = ClocksOfSource.of(upstream, self.stage), upstream
            else:
                above = stages[upstream.name].runner
                panes = logs[name] = StagePanes.of(self.lake, above.journal)
                clocks[name] = ClocksOfStage(self.spark, panes, self.stage, above.clocks.replays)
                read[name] = above.stage
        place = f"stages.{self.stage.name}"
        compiled = located(place, lambda stage: compiled_stage(self.spark, stage, read), self.stage)
        return self._work(compiled, InputLogs(logs), Clocks(self.stage, clocks))

    def _work(self, compiled: CompiledStage, upstream: InputLogs, clocks: Clocks) -> StageWork:
        journal = Journal.of(self.lake, compiled, self.generation, self.constraints)
        is_read = bool(self.pipeline.readers_of(self.stage))
        runner = StageRunner(self.spark, compiled, upstream, clocks, journal, is_read)
        projections = Projections(self.spark, self.lake, journal, lambda: working_session(self.spark), _after_write)
        return StageWork(runner, projections, self.gate)


def _after_source(table: str) -> None:
    point(f"source:after_{table}")


def _after_write(table: str) -> None:
    point(f"projection:after_{table}")
